import { hostname } from 'node:os';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { apiServerId } from '../bootstrap/index.ts';
import { plainValues, startEncryption, type Encryption } from '../encryption/index.ts';
import { EtcdClient, startCompactor, tlsFromFiles } from '../storage/etcd-client/index.ts';
import { EtcdStore } from '../storage/etcd-store.ts';
import { TransformedStore } from '../storage/transformed-store.ts';
import type { Store } from '../storage/store.ts';
import { etcdCheck } from './etcd-check.ts';
import { meteredStore } from './storage-metrics.ts';
import type { Surroundings } from './surroundings.ts';

export interface ObjectStore extends Disposable {
  readonly store: Store;
}

const openEncryption = async ({
  config,
  metrics,
  clock,
  log,
}: Surroundings): Promise<Encryption | undefined> => {
  const { configFile, isReloaded } = config.encryption;
  if (configFile === '') return undefined;
  const id = apiServerId(config.hostname || hostname());
  return startEncryption({ file: configFile, isReloaded, apiServerId: id, metrics, clock, log });
};

/** etcd behind metrics and encryption, and the compactor beside it. */
export const openObjectStore = async (surroundings: Surroundings): Promise<ObjectStore> => {
  const { config, metrics, health, clock, random, log } = surroundings;
  const owned = new DisposableStore();
  const encryption = await openEncryption(surroundings);
  if (encryption !== undefined) {
    owned.add(encryption);
    health.add({ name: 'kms-providers', check: () => encryption.check() });
  }
  const { caFile, certFile, keyFile, servers, compactionIntervalMs } = config.etcd;
  const client = new EtcdClient({
    endpoints: servers,
    tls: tlsFromFiles({
      ...(caFile !== '' && { caFile }),
      ...(certFile !== '' && { certFile, keyFile }),
    }),
    clock,
    random,
    log,
  });
  owned.defer(() => client.close());
  const metered = meteredStore(new EtcdStore(client, { clock }), { metrics, clock, minor: config.minor });
  const store = new TransformedStore(metered, encryption ?? plainValues);
  if (compactionIntervalMs > 0)
    owned.add(startCompactor({ client, clock, log, intervalMs: compactionIntervalMs }));
  health.add(etcdCheck(store, clock, config.etcd.healthTimeoutMs), ['healthz', 'livez']);
  health.add(etcdCheck(store, clock, config.etcd.readyTimeoutMs), ['readyz']);
  return { store, dispose: () => owned.dispose() };
};

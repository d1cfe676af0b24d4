import type { AddressInfo } from 'node:net';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry as Metrics } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { watchFiles } from '../../base/node/pem-files.ts';
import { systemRandom } from '../../base/node/random.ts';
import { pathNotFound } from '../../api/meta/index.ts';
import { authorizationStage, impersonationStage } from '../authz/index.ts';
import type { ApiServerConfig } from '../config/config.ts';
import { DiscoveryCatalog, discoveryStage } from '../discovery/index.ts';
import { maxInFlightStage } from '../flowcontrol/index.ts';
import { apiStage } from '../handlers/index.ts';
import { createRegistry } from '../registry/index.ts';
import { createApiServer, endpointsStage, HealthRegistry, TraceRing, type Stage } from '../server/index.ts';
import { tracesStage } from '../server/traces-stage.ts';
import { EtcdClient, EtcdStore, startCompactor, tlsFromFiles } from '../storage/index.ts';
import { createAuthentication, createAuthorization } from './access.ts';
import { certificateFiles, loadCertificates, loadTokenKeys } from './certificates.ts';
import { versionInfo } from './version.ts';

export interface RunningApiServer {
  readonly address: AddressInfo;
  readonly metrics: Metrics;
  /** Rejects when the server must end by itself: it could not set the cluster up. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

const notFoundStage: Stage = {
  name: 'not-found',
  run() {
    throw pathNotFound();
  },
};

/** One API server over this machine's clock and network. */
export const runApiServer = async (config: ApiServerConfig, log: Log): Promise<RunningApiServer> => {
  const [clock, random] = [systemClock, systemRandom];
  const owned = new DisposableStore();
  const [certificates, keys] = await Promise.all([loadCertificates(config), loadTokenKeys(config)]);
  const metrics = new Metrics();
  const health = new HealthRegistry(log);
  let rejectFailed: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (rejectFailed = reject));
  failed.catch(() => undefined);

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
  const store = new EtcdStore(client, { clock });
  const registry = createRegistry({ store, minor: config.minor, clock, random, log });
  owned.defer(() => registry.close());
  if (compactionIntervalMs > 0)
    owned.add(startCompactor({ client, clock, log, intervalMs: compactionIntervalMs }));

  const authentication = createAuthentication({
    config,
    certificates,
    keys,
    reader: () => registry.reader,
    metrics,
    clock,
    log,
  });
  const { authorizer } = createAuthorization(config);
  const traces = new TraceRing(Math.max(1, config.tracesMax));
  const version = versionInfo(config.minor);
  const stages: Stage[] = [
    authentication.stage,
    impersonationStage(authorizer),
    maxInFlightStage({
      metrics,
      readOnlyMax: config.readOnlyInFlightMax,
      mutatingMax: config.mutatingInFlightMax,
    }),
    authorizationStage({ authorizer, metrics, clock }),
    endpointsStage({ health, metrics, version }),
    tracesStage(traces),
    discoveryStage({
      catalog: new DiscoveryCatalog(config.minor),
      serverAddress: `${config.advertiseAddress}:${config.securePort}`,
      version: version.gitVersion,
      clock,
    }),
    apiStage({
      registry,
      admission: { admit: () => Promise.resolve(), validate: () => Promise.resolve() },
      minor: config.minor,
      clock,
      random,
      log,
      metrics,
      authorizer,
      watchTimeoutMinSeconds: config.watchTimeoutMinMs / 1000,
    }),
    notFoundStage,
  ];
  const server = createApiServer({
    certificates: certificates.serving,
    stages,
    health,
    metrics,
    clock,
    log,
    traces,
    limits: {
      requestTimeoutMs: config.requestTimeoutMs,
      streamsPerConnectionMax: config.streamsPerConnectionMax,
    },
  });
  health.add({
    name: 'etcd',
    async check() {
      await store.currentRevision();
    },
  });

  const reload = (): void => {
    loadCertificates(config)
      .then((loaded) => {
        server.setCertificates(loaded.serving);
        authentication.setCertificates(loaded);
        log.write('info', 'certificates were renewed');
      })
      .catch(problem);
  };
  const problem = (error: unknown): void =>
    log.write('warn', 'renewed certificate cannot be used; the old one stays', { error: messageOf(error) });
  owned.add(watchFiles(certificateFiles(config), clock, reload, problem));

  try {
    registry.start();
    const address = await server.listen(config.securePort, config.bindAddress).catch((cause: unknown) => {
      throw new ReasonError(
        'CannotListen',
        `cannot listen on ${config.bindAddress}:${config.securePort} (--bind-address, --secure-port): ${messageOf(cause)}`,
        { cause },
      );
    });
    void rejectFailed;
    return {
      address,
      metrics,
      failed,
      async close() {
        await server.shutdown({ delayMs: config.shutdownDelayMs });
        owned.dispose();
      },
    };
  } catch (error) {
    owned.dispose();
    throw error;
  }
};

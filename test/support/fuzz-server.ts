import { silentLog, type Log } from '../../core/base/log.ts';
import { defaultGates, releaseOf } from '../../core/api/releases/index.ts';
import { Registry as Metrics } from '../../core/base/metrics/index.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import { builtInPlugins } from '../../core/apiserver/admission/built-in-plugins.ts';
import { createAdmissionChain } from '../../core/apiserver/admission/chain.ts';
import { idlePluginParts } from '../../core/apiserver/admission/testing/dynamic.ts';
import { selectPlugins } from '../../core/apiserver/admission/selection.ts';
import { privilegedGroups } from '../../core/apiserver/authz/authorizer.ts';
import { apiStage } from '../../core/apiserver/handlers/index.ts';
import { createKubeletProxy } from '../../core/apiserver/kubelet-proxy/kubelet-proxy.ts';
import { createRegistry, type ObjectRegistry } from '../../core/apiserver/registry/create-registry.ts';
import type { Stage } from '../../core/apiserver/server/pipeline.ts';
import type { Store } from '../../core/apiserver/storage/store.ts';
import { startTestServer, type TestServer } from './apiserver.ts';
import { openMemoryStorage } from './apiserver-storage.ts';

export interface FuzzServer {
  readonly server: TestServer;
  readonly handlers: readonly Stage[];
  readonly store: Store;
  /** What the server called a defect of its own. */
  readonly defects: unknown[];
}

/** An API server with every stage and plugin, over a store in memory. What closes it is added to `opened`. */
export const startFuzzServer = async (options: {
  readonly minor: number;
  readonly seed: number;
  readonly opened: (() => Promise<void> | void)[];
}): Promise<FuzzServer> => {
  const { minor, seed, opened } = options;
  const defects: unknown[] = [];
  const log: Log = {
    ...silentLog,
    write(level, message, fields) {
      if (level === 'error') defects.push({ message, ...fields });
    },
    with: () => log,
  };
  const { store } = await openMemoryStorage({ opened });
  const registry: ObjectRegistry = createRegistry({
    store,
    minor,
    clock: systemClock,
    random: seededRandom(seed),
    log: silentLog,
    kubelets: createKubeletProxy({
      reader: {
        get: (...args) => registry.reader.get(...args),
        list: (...args) => registry.reader.list(...args),
      },
      random: seededRandom(seed),
      advertiseAddress: '127.0.0.1',
      tls: () => ({}),
      addressTypes: ['InternalIP'],
      timeoutMs: 1000,
    }),
  });
  opened.push(() => registry.close());
  registry.start();
  await registry.ready();
  const authorizer = privilegedGroups();
  const plugins = builtInPlugins(selectPlugins([], []), {
    reader: registry.reader,
    quotaWriter: registry.quotaWriter,
    authorizer,
    ...idlePluginParts(registry.reader, authorizer, systemClock),
    clock: systemClock,
    random: seededRandom(seed),
    minor,
    gates: defaultGates(releaseOf(minor)),
  });
  const handlers = [
    apiStage({
      registry,
      admission: createAdmissionChain(plugins, { clock: systemClock }),
      minor,
      clock: systemClock,
      random: seededRandom(seed),
      log: silentLog,
      metrics: new Metrics(),
      authorizer,
    }),
  ];
  const server = await startTestServer({ log, handlers });
  opened.push(() => server.server.shutdown({ graceMs: 0 }));
  return { server, handlers, store, defects };
};

import type { Log } from '../base/log.ts';
import { systemClock } from '../base/node/clock.ts';
import { systemRandom } from '../base/node/random.ts';
import type { DnsConfig } from './config/config.ts';
import { startDnsServer } from './dns-server.ts';
import type { WatchedSource } from './server/lazy-source.ts';

export interface RunningDns {
  /** Rejects when the server must end on its own. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** The API client is loaded with the first question: a server that no one asks needs none of it. */
const openSource = async (config: DnsConfig, log: Log): Promise<WatchedSource> => {
  const [{ connect, loadLastingKubeconfig }, { ApiSource }] = await Promise.all([
    import('../client/index.ts'),
    import('./server/api-source.ts'),
  ]);
  const [clock, random] = [systemClock, systemRandom];
  const client = connect(await loadLastingKubeconfig(config.kubeconfig), {
    clock,
    random,
    log,
    userAgent: 'kube-dns',
  });
  const source = new ApiSource({ client, clock, random, log });
  return {
    get isSynced() {
      return source.isSynced;
    },
    ready: () => source.ready(),
    dispose: () => {
      source.dispose();
      client.dispose();
    },
  };
};

/** The cluster's DNS over this machine's clock and network. */
export const runDns = async (config: DnsConfig, log: Log): Promise<RunningDns> => {
  const server = await startDnsServer({
    config,
    openSource: () => openSource(config, log),
    clock: systemClock,
    random: systemRandom,
    log,
  });
  const { host, port } = config.bind;
  log.write('info', 'serving DNS', { address: host, port, zone: config.zone.zone });
  return {
    failed: new Promise<never>(() => undefined),
    close: () => Promise.resolve(server.dispose()),
  };
};

import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { seededRandom } from '../../base/random.ts';
import { startDnsServer } from '../dns-server.ts';
import type { DnsServerAddress } from '../exchange/exchange.ts';
import type { ZoneSource } from '../zone/index.ts';

/** A server on loopback that answers from what it is given. */
export const startTestServer = async (options: {
  readonly bind: DnsServerAddress;
  readonly source: ZoneSource;
  readonly metrics?: DnsServerAddress;
  readonly upstreams?: readonly DnsServerAddress[];
  readonly zone?: string;
}) => {
  const registry = new Registry();
  const server = await startDnsServer({
    config: {
      zone: {
        zone: options.zone ?? 'cluster.local.',
        ttlSeconds: 30,
        service: { namespace: 'kube-system', name: 'kube-dns' },
      },
      bind: options.bind,
      metrics: options.metrics,
      upstreams: options.upstreams ?? [],
      idleMs: 60_000,
    },
    openSource: () =>
      Promise.resolve({
        isSynced: true,
        ready: () => Promise.resolve(options.source),
        dispose: () => undefined,
      }),
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    registry,
  });
  return { registry, close: () => server.dispose() };
};

import type { Log } from '../../base/log.ts';
import type { ListenUrl, MemberConfig } from '../config/config.ts';

const addressOf = ({ address }: ListenUrl): string =>
  address.path ?? `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;

/** What etcd logs when its listeners are open: scripts wait for these lines, and auditors search for the second. */
export const logServing = (config: MemberConfig, log: Log): void => {
  for (const url of config.listenClients)
    log.write(
      'info',
      url.secure
        ? 'serving client traffic securely'
        : 'serving client traffic insecurely; this is strongly discouraged!',
      { traffic: 'grpc+http', address: addressOf(url) },
    );
  for (const { url } of config.listenMetrics) log.write('info', 'serving metrics', { address: url });
};

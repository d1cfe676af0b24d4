import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import type { OwnedClient } from '../client.ts';
import type { ClientConfig } from './config.ts';
import { Credentials } from './credentials.ts';
import { endpointOf } from './dial.ts';
import { HttpTransport } from './http-transport.ts';
import { Requester, type RequestTrace } from './requester.ts';
import { RestClient } from './rest-client.ts';
import { TokenBucket } from './token-bucket.ts';
import type { Warning } from './warnings.ts';

/** client-go's defaults, for clients of a cluster that is not ours. */
export const DEFAULT_RATE_LIMIT = { qps: 5, burst: 10 };
const REQUEST_TIMEOUT_MS = 60_000;

export interface ConnectOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry?: Registry;
  /** `kube-scheduler/v1.36.0`; servers log it, and own fields by what is before the slash. */
  readonly userAgent: string;
  /** None without it: the server's own flow control is fairer. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  readonly timeoutMs?: number;
  onWarning?(warning: Warning): void;
  onTrace?(trace: RequestTrace): void;
}

/** Connects nothing yet: the first request does. */
export const connect = (config: ClientConfig, options: ConnectOptions): OwnedClient => {
  const { clock, rateLimit } = options;
  const credentials = new Credentials(config, clock);
  const { url } = endpointOf(config.servers[0] ?? '');
  const requester = new Requester({
    transport: new HttpTransport(config, credentials, clock),
    host: url.host,
    basePath: url.pathname.replace(/\/+$/, ''),
    clock,
    random: options.random,
    log: options.log,
    ...(options.registry && { registry: options.registry }),
    authenticator: credentials,
    ...(rateLimit && { limiter: new TokenBucket({ clock, ...rateLimit }) }),
    timeoutMs: options.timeoutMs ?? REQUEST_TIMEOUT_MS,
    ...(options.onWarning && { onWarning: options.onWarning }),
    ...(options.onTrace && { onTrace: options.onTrace }),
  });
  return new RestClient(requester, {
    userAgent: options.userAgent,
    impersonation: config.auth.impersonation,
  });
};

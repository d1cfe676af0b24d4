import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { Balancer } from './balancer.ts';
import { EtcdClientError, isTransient } from './errors.ts';
import type { GrpcTarget } from '../../../base/node/grpc/call.ts';
import { encodeMessage, openCall } from './grpc-call.ts';
import type { Method } from './methods.ts';
import type { TlsSource } from './tls-source.ts';
import { WatchGroup, type WatchHandlers, type WatchRange } from './watch-group.ts';
import type { Disposable } from '../../../base/disposable.ts';

const CALL_TIMEOUT_MS_DEFAULT = 10_000;
/**
 * A frozen member is found out before the calls that wait for it reach their deadline, so that reads can still be
 * asked elsewhere. etcd takes no pings more often than every 5 s (`--grpc-keepalive-min-time`).
 */
const KEEPALIVE_INTERVAL_MS_DEFAULT = 6_000;
const KEEPALIVE_TIMEOUT_MS_DEFAULT = 3_000;
/** As etcd's client: a hundred attempts, though the deadline ends them first. */
const ATTEMPTS_MAX = 100;
const RETRY_PAUSE_MS = 25;
const RETRY_JITTER = 0.1;

export interface EtcdClientOptions {
  readonly endpoints: readonly string[];
  readonly tls?: TlsSource | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly keepaliveIntervalMs?: number | undefined;
  readonly keepaliveTimeoutMs?: number | undefined;
  readonly metrics?: EtcdClientMetrics | undefined;
}

export interface EtcdClientMetrics {
  callEnded(path: string, seconds: number, reason: string): void;
}

/**
 * etcd's v3 API over gRPC, to several members as if they were one. Reads are asked again elsewhere until their
 * deadline; a write is sent again only when the server has certainly not acted on it.
 */
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  readonly #balancer: Balancer;
  readonly #watches: WatchGroup;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    this.#balancer = new Balancer({
      endpoints: options.endpoints,
      tls: options.tls ?? (() => ({})),
      clock: options.clock,
      random: options.random,
      log: options.log,
      keepaliveIntervalMs: options.keepaliveIntervalMs ?? KEEPALIVE_INTERVAL_MS_DEFAULT,
      keepaliveTimeoutMs: options.keepaliveTimeoutMs ?? KEEPALIVE_TIMEOUT_MS_DEFAULT,
    });
    this.#watches = new WatchGroup(this.#balancer, options);
  }

  async call<In, Out>(
    method: Method<In, Out>,
    input: In,
    options: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Out> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonicMs();
    const deadlineMs = startMs + (options.timeoutMs ?? CALL_TIMEOUT_MS_DEFAULT);
    const bytes = encodeMessage(method.request, input);
    let reason = 'OK';
    try {
      return await this.#attempts(method, bytes, deadlineMs, options.signal);
    } catch (error) {
      reason = error instanceof EtcdClientError ? error.reason : 'Internal';
      throw error;
    } finally {
      metrics?.callEnded(method.path, (clock.monotonicMs() - startMs) / 1000, reason);
    }
  }

  /** Many watches share one stream; each resumes on its own where it was when a member is lost. */
  watch(range: WatchRange, handlers: WatchHandlers): Disposable {
    return this.#watches.watch(range, handlers);
  }

  /** Asks the server to say how far all watches are; answered by `onProgress` of each. */
  requestProgress(): void {
    this.#watches.requestProgress();
  }

  close(): void {
    this.#watches.close();
    this.#balancer.close();
  }

  async #attempts<In, Out>(
    method: Method<In, Out>,
    bytes: Buffer,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Out> {
    const { clock } = this.#options;
    let avoid: GrpcTarget | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = deadlineMs - clock.monotonicMs();
      const target = this.#balancer.pick(avoid) ?? (await this.#balancer.wait(leftMs, avoid));
      try {
        return await this.#once(target, method, bytes, { deadlineMs, signal });
      } catch (error) {
        const again =
          isTransient(error) &&
          (method.safe || error.untouched) &&
          attempt < ATTEMPTS_MAX &&
          signal?.aborted !== true;
        if (!again || clock.monotonicMs() + RETRY_PAUSE_MS >= deadlineMs) throw error;
        avoid = target;
        await this.#pause();
      }
    }
  }

  #once<In, Out>(
    target: GrpcTarget,
    method: Method<In, Out>,
    bytes: Buffer,
    limits: { readonly deadlineMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<Out> {
    const { clock } = this.#options;
    const timeoutMs = limits.deadlineMs - clock.monotonicMs();
    return new Promise((resolve, reject) => {
      let answer: Out | undefined;
      let stopped: EtcdClientError | undefined;
      const stop = (error: EtcdClientError): void => {
        stopped = error;
        stream.cancel(error.message);
      };
      // Whole milliseconds: timers of one length share a list.
      const timer = clock.after(Math.ceil(timeoutMs), () =>
        stop(new EtcdClientError('DeadlineExceeded', 'etcd did not answer before the deadline')),
      );
      const onAbort = (): void => stop(new EtcdClientError('Cancelled', 'the caller gave up'));
      const stream = openCall(
        target,
        method,
        {
          onMessage: (message) => (answer = method.response.decode(message)),
          onEnd: (error) => {
            timer.dispose();
            limits.signal?.removeEventListener('abort', onAbort);
            const failure = stopped ?? error;
            if (failure !== undefined) reject(failure);
            else if (answer === undefined)
              reject(new EtcdClientError('Internal', 'etcd ended the call without an answer'));
            else resolve(answer);
          },
        },
        timeoutMs,
      );
      stream.write(bytes, true);
      if (limits.signal?.aborted === true) onAbort();
      else limits.signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #pause(): Promise<void> {
    const { clock, random } = this.#options;
    const ms = RETRY_PAUSE_MS * (1 + RETRY_JITTER * (2 * random.next() - 1));
    return new Promise((resolve) => clock.after(ms, resolve));
  }
}

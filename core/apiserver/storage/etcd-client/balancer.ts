import type { Clock } from '../../../base/clock.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { EtcdClientError } from './errors.ts';
import type { Endpoint, EndpointOptions } from './endpoint.ts';
import { Endpoint as EndpointConnection } from './endpoint.ts';
import type { GrpcTarget } from '../../../base/node/grpc/call.ts';

/** Calls that wait for any member to become reachable. */
const WAITING_MAX = 10_000;

/**
 * Spreads calls over the members that are connected, in turn: one member for all calls of a turn of the event loop,
 * because what goes to one connection then leaves in one write, and is answered in one.
 */
export class Balancer {
  readonly #endpoints: readonly Endpoint[];
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #turn = 0;
  #current: GrpcTarget | undefined;
  #closed = false;

  constructor(
    options: Omit<EndpointOptions, 'url' | 'onChanged'> & { readonly endpoints: readonly string[] },
  ) {
    this.#clock = options.clock;
    this.#endpoints = options.endpoints.map(
      (url) => new EndpointConnection({ ...options, url, onChanged: () => this.#wake() }),
    );
  }

  /** The next connected member, another one than `avoid` when there is a choice; undefined when none is. */
  pick(avoid?: GrpcTarget): GrpcTarget | undefined {
    if (avoid !== undefined) return this.#next(avoid);
    if (this.#current?.connection.usable === true) return this.#current;
    this.#current = this.#next();
    // Connections flush in the same phase of the loop.
    if (this.#current !== undefined) setImmediate(() => (this.#current = undefined));
    return this.#current;
  }

  #next(avoid?: GrpcTarget): GrpcTarget | undefined {
    let fallback: GrpcTarget | undefined;
    for (let step = 0; step < this.#endpoints.length; step += 1) {
      const index = this.#turn % this.#endpoints.length;
      this.#turn = index + 1;
      const target = this.#endpoints[index]!.target;
      if (target === undefined) continue;
      if (target.connection !== avoid?.connection) return target;
      fallback = target;
    }
    return fallback;
  }

  /** Waits for a member; rejects with Unavailable when none appears in time. Nothing was sent then. */
  async wait(limitMs: number, avoid?: GrpcTarget): Promise<GrpcTarget> {
    const deadlineMs = this.#clock.monotonicMs() + limitMs;
    for (;;) {
      if (this.#closed)
        throw new EtcdClientError('Closed', 'the etcd client was closed', { untouched: true });
      const target = this.pick(avoid);
      if (target !== undefined) return target;
      const leftMs = deadlineMs - this.#clock.monotonicMs();
      if (leftMs <= 0 || this.#waiting.size >= WAITING_MAX) throw this.#unreachable();
      await this.#changed(leftMs);
    }
  }

  /** Calls back when a member may have become reachable, once. */
  onceChanged(run: () => void): Disposable {
    this.#waiting.add(run);
    return toDisposable(() => this.#waiting.delete(run));
  }

  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints) endpoint.close();
    this.#wake();
  }

  #changed(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(limitMs, () => {
        this.#waiting.delete(done);
        resolve();
      });
      const done = (): void => {
        timer.dispose();
        resolve();
      };
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  #unreachable(): EtcdClientError {
    const problems = this.#endpoints.map((endpoint) => `${endpoint.url}: ${endpoint.problem}`).join('; ');
    return new EtcdClientError('Unavailable', `no etcd endpoint is reachable (${problems})`, {
      untouched: true,
    });
  }
}

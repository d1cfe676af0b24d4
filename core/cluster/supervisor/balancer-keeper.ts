import { naturalOrder } from '../../base/natural-order.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { LinkRule } from '../faults/link-gate.ts';
import type { Backend } from '../load-balancer/backend-pool.ts';
import type { LoadBalancerState } from '../load-balancer/load-balancer.ts';
import type { LoadBalancerEvents, LoadBalancerThread } from '../load-balancer/load-balancer-thread.ts';

/** Between the end of a load balancer and the next one: what ends it immediately must not keep a processor busy. */
export const RESTART_PAUSE_MS = 1_000;

export interface BalancerKeeperOptions {
  start(events: LoadBalancerEvents): Promise<LoadBalancerThread>;
  readonly clock: Clock;
  onChange(): void;
  /** It has ended on its own, or could not be started again; the next start follows. */
  onProblem(message: string): void;
}

/** The load balancer of a cluster: who is behind it, and another one when it has ended on its own. */
export class BalancerKeeper {
  readonly #options: BalancerKeeperOptions;
  readonly #backends = new Map<string, Backend>();
  #links: readonly LinkRule[] = [];
  #thread: LoadBalancerThread | undefined;
  #again: Disposable | undefined;
  #isClosed = false;

  constructor(options: BalancerKeeperOptions) {
    this.#options = options;
  }

  /** Rejects where the first one cannot listen: anyone who starts the cluster wants to know. */
  async start(): Promise<void> {
    const thread = await this.#options.start({
      onState: () => this.#options.onChange(),
      onEnded: (why) => {
        if (this.#thread === thread) this.#ended(`the load balancer exited: ${why}`);
      },
    });
    if (this.#isClosed) {
      await thread.close();
      return;
    }
    this.#thread = thread;
    if (this.#backends.size > 0) this.#tellBackends();
    if (this.#links.length > 0) thread.setLinks(this.#links);
  }

  state(): LoadBalancerState | undefined {
    return this.#thread?.state();
  }

  add(backend: Backend): void {
    if (this.#backends.has(backend.name)) return;
    this.#backends.set(backend.name, backend);
    this.#tellBackends();
  }

  /** False when it was not among them. */
  remove(name: string): boolean {
    if (!this.#backends.delete(name)) return false;
    this.#tellBackends();
    return true;
  }

  /** A second address for other machines, or none; rejects where it cannot be listened on. */
  async setAdvertised(address: string | undefined): Promise<void> {
    await this.#thread?.setAdvertised(address);
  }

  /** Links between it and hosts that are broken intentionally. */
  setLinks(links: readonly LinkRule[]): void {
    this.#links = links;
    this.#thread?.setLinks(links);
  }

  /** False where its thread does not end. */
  async close(): Promise<boolean> {
    this.#isClosed = true;
    this.#again?.dispose();
    const thread = this.#thread;
    this.#thread = undefined;
    return thread === undefined || thread.close();
  }

  #tellBackends(): void {
    const byName = [...this.#backends.values()].sort((a, b) => naturalOrder(a.name, b.name));
    this.#thread?.setBackends(byName);
  }

  #ended(message: string): void {
    const { clock, onProblem, onChange } = this.#options;
    this.#thread = undefined;
    if (this.#isClosed) return;
    onProblem(message);
    onChange();
    this.#again = clock.after(RESTART_PAUSE_MS, () => {
      this.start().catch((error: unknown) => this.#ended(messageOf(error)));
    });
  }
}

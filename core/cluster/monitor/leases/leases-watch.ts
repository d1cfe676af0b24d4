import { naturalOrder } from '../../../base/natural-order.ts';
import type { Clock } from '../../../base/clock.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { ReasonError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { InformerFactory, LEASE, type Client, type Lease, type Stored } from '../../../client/index.ts';
import { LEASES_MAX, type LeasesView, type LeaseView } from '../../../contract/index.ts';
import { trackLease } from './lease-track.ts';

const EMIT_MS = 1_000;
/** A view of many leases is large, and said less often. */
const LEASES_PER_EMIT_SECOND = 200;

export interface LeasesWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const KIND_ORDER: Readonly<Record<LeaseView['kind'], number>> = { election: 0, server: 1, node: 2 };
const keyOf = ({ namespace, name }: { namespace?: string; name: string }): string =>
  `${namespace ?? ''}/${name}`;

/** Every Lease of a cluster, by one watch, with the holders that were seen. */
export class LeasesWatch implements Disposable {
  readonly #options: LeasesWatchOptions;
  readonly #informers: InformerFactory;
  readonly #leases = new Map<string, LeaseView>();
  readonly #listeners = new Set<(view: LeasesView) => void>();
  readonly #watchedSinceMs: number;
  /** How far the server's clock is ahead of ours. */
  #aheadMs = 0;
  #emission: Disposable | undefined;
  #isStarted = false;
  #isStopped = false;

  constructor(options: LeasesWatchOptions) {
    this.#options = options;
    this.#informers = new InformerFactory(options);
    this.#watchedSinceMs = options.clock.nowMs();
    this.#informers.informer(LEASE, { transform: withoutManagers }).addHandler({
      added: (lease) => this.#see(lease),
      updated: (_before, after) => this.#see(after),
      deleted: (lease) => {
        this.#leases.delete(keyOf(lease.metadata));
        this.#changed();
      },
    });
  }

  /** Harmless when it was started before. */
  start(): void {
    if (!this.#isStarted) void this.#compareClocks();
    this.#isStarted = true;
    this.#informers.start();
  }

  view(): LeasesView {
    const leases = [...this.#leases.values()].sort(
      (a, b) =>
        KIND_ORDER[a.kind] - KIND_ORDER[b.kind] ||
        naturalOrder(a.namespace, b.namespace) ||
        naturalOrder(a.name, b.name),
    );
    return {
      atMs: this.#serverNowMs(),
      watchedSinceMs: this.#watchedSinceMs + this.#aheadMs,
      leases: leases.slice(0, LEASES_MAX),
    };
  }

  /** Resolves when every lease is known; rejects with what the server said first, if it refuses to tell. */
  async whenKnown(signal: AbortSignal): Promise<void> {
    const informer = this.#informers.informer(LEASE);
    let reject: (error: Error) => void = () => undefined;
    const refused = new Promise<never>((_resolve, fail) => (reject = fail));
    refused.catch(() => undefined);
    const listening = informer.onHealth(({ synced, lastError }) => {
      if (!synced && lastError !== undefined) reject(new ReasonError('Unavailable', lastError));
    });
    try {
      await Promise.race([informer.whenSynced(signal), refused]);
    } finally {
      listening.dispose();
    }
  }

  onView(listener: (view: LeasesView) => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  dispose(): void {
    this.#isStopped = true;
    this.#emission?.dispose();
    this.#listeners.clear();
    this.#informers.dispose();
  }

  #serverNowMs(): number {
    return this.#options.clock.nowMs() + this.#aheadMs;
  }

  #see(lease: Stored<Lease>): void {
    const key = keyOf(lease.metadata);
    this.#leases.set(key, trackLease(this.#leases.get(key), lease, this.#serverNowMs()));
    this.#changed();
  }

  #changed(): void {
    if (this.#isStopped || this.#emission || this.#listeners.size === 0) return;
    const pauseMs = Math.max(EMIT_MS, (this.#leases.size / LEASES_PER_EMIT_SECOND) * EMIT_MS);
    this.#emission = this.#options.clock.after(pauseMs, () => {
      this.#emission = undefined;
      if (this.#listeners.size === 0) return;
      const view = this.view();
      for (const listener of this.#listeners) listener(view);
    });
  }

  /** By the Date of an answer, to the second; without one both clocks are taken to agree. */
  async #compareClocks(): Promise<void> {
    const { client, clock } = this.#options;
    try {
      const answer = await client.stream({ method: 'GET', path: '/version' });
      const atMs = Date.parse(answer.headers['date'] ?? '');
      answer.dispose();
      const aheadMs = atMs - clock.nowMs();
      // A Date has no fractions: less than two seconds may be no difference at all.
      if (Number.isFinite(aheadMs) && Math.abs(aheadMs) >= 2_000) this.#aheadMs = aheadMs;
    } catch (error) {
      this.#options.log.write('debug', 'failed to read the clock of the server', { error });
    }
  }
}

const withoutManagers = (lease: Stored<Lease>): Stored<Lease> => {
  delete lease.metadata.managedFields;
  return lease;
};

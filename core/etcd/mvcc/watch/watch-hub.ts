import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { emptyWatcherRange } from '../errors.ts';
import { readHistory } from '../history.ts';
import { toSpan, type Event, type KeySpan } from '../model.ts';
import type { Store } from '../store.ts';
import { WatcherGroup } from './watcher-group.ts';
import type { Watcher, WatchFilter, WatchRequest, WatcherState, WatchSink } from './watcher.ts';

/** Watchers brought up to date in one pass, and changes read for them. */
const SYNC_WATCHERS_MAX = 512;
const SYNC_EVENTS_MAX = 1_000;
/** How soon a refused batch is offered again when no one says that there is room. */
const VICTIM_RETRY_MS = 10;
const NO_EVENTS: readonly Event[] = [];

class Membership implements Watcher {
  readonly span: KeySpan;
  readonly startRevision: number;
  readonly sink: WatchSink;
  readonly filters: readonly WatchFilter[];
  readonly wantsPrevKv: boolean;
  readonly #cancel: (watcher: Membership) => void;
  state: WatcherState = 'unsynced';
  /** The lowest revision it has not been offered yet. */
  nextRevision: number;
  /** Of a victim: the batch that found no room. */
  refused: { readonly revision: number; readonly events: readonly Event[] } | undefined;

  constructor(request: WatchRequest, span: KeySpan, cancel: (watcher: Membership) => void) {
    this.span = span;
    this.startRevision = request.startRevision ?? 0;
    this.nextRevision = this.startRevision;
    this.sink = request.sink;
    this.filters = request.filters ?? [];
    this.wantsPrevKv = request.prevKv ?? false;
    this.#cancel = cancel;
  }

  cancel(): void {
    this.#cancel(this);
  }
}

export interface WatchCounts {
  readonly watchers: number;
  /** Unsynced and victims: etcd's slow watchers. */
  readonly slow: number;
  /** Events delivered so far, and those that wait for room. */
  readonly eventsSent: number;
  readonly eventsPending: number;
}

/**
 * Brings changes to watchers: each in revision order, none twice, none left out, all changes of a revision
 * together. Memory per slow watcher is one batch; the rest is read again from history when it has room.
 */
export class WatchHub {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #synced = new WatcherGroup<Membership>();
  readonly #unsynced = new Set<Membership>();
  readonly #victims = new Set<Membership>();
  readonly #subscription: Disposable;
  #eventsSent = 0;
  #syncTimer: Disposable | undefined;
  #victimTimer: Disposable | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#subscription = store.onChange((revision, events) => this.#notify(revision, events));
  }

  get counts(): WatchCounts {
    const slow = this.#unsynced.size + this.#victims.size;
    let eventsPending = 0;
    for (const { refused } of this.#victims) eventsPending += refused?.events.length ?? 0;
    return { watchers: this.#synced.size + slow, slow, eventsSent: this.#eventsSent, eventsPending };
  }

  /** The first batch may be delivered before this returns to the event loop, never before it returns. */
  watch(request: WatchRequest): Watcher {
    const span = toSpan(request);
    if (span.end !== undefined && span.end !== '' && span.start >= span.end) throw emptyWatcherRange();
    const watcher = new Membership(request, span, (ended) => this.#end(ended));
    if (watcher.startRevision === 0 || watcher.startRevision > this.#store.revision) {
      watcher.nextRevision = Math.max(watcher.startRevision, this.#store.revision + 1);
      this.#toSynced(watcher);
    } else {
      this.#toUnsynced(watcher);
    }
    return watcher;
  }

  /**
   * The revision up to which all these watchers have received everything, or undefined while one of them is
   * behind or starts in the future. What a progress notification may say.
   */
  progress(watchers: Iterable<Watcher>): number | undefined {
    const { revision } = this.#store;
    for (const watcher of watchers)
      if (watcher.state !== 'synced' || revision < watcher.startRevision) return undefined;
    return revision;
  }

  /** Some sink has room again: refused batches are offered now instead of at the next try. */
  resume(): void {
    if (this.#victims.size > 0) this.#offerVictims();
  }

  /** The store took over another state: no one can be sure to be up to date. */
  restored(): void {
    for (const watcher of [...this.#synced.values()]) {
      this.#synced.delete(watcher);
      this.#toUnsynced(watcher);
    }
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#syncTimer?.dispose();
    this.#victimTimer?.dispose();
  }

  #end(watcher: Membership): void {
    if (watcher.state === 'ended') return;
    watcher.state = 'ended';
    this.#synced.delete(watcher);
    this.#unsynced.delete(watcher);
    this.#victims.delete(watcher);
    watcher.refused = undefined;
  }

  #toSynced(watcher: Membership): void {
    watcher.state = 'synced';
    this.#synced.add(watcher);
  }

  #toUnsynced(watcher: Membership): void {
    watcher.state = 'unsynced';
    this.#unsynced.add(watcher);
    this.#scheduleSync(0);
  }

  #notify(revision: number, events: readonly Event[]): void {
    if (this.#synced.size === 0) return;
    for (const [watcher, matched] of matchEvents(this.#synced, events)) {
      // A sink may cancel others while it takes a batch.
      if (watcher.state !== 'synced' || revision < watcher.nextRevision) continue;
      watcher.nextRevision = revision + 1;
      if (!this.#offer(watcher, revision, matched)) this.#synced.delete(watcher);
    }
  }

  /** False: refused, and the watcher is a victim now. */
  #offer(watcher: Membership, revision: number, events: readonly Event[]): boolean {
    const wanted =
      watcher.filters.length === 0 ? events : events.filter((event) => !isFiltered(watcher.filters, event));
    if (wanted.length === 0) return true;
    if (watcher.wantsPrevKv)
      for (const event of wanted)
        if (event.prevKv === undefined) event.prevKv = this.#store.previous(event) ?? null;
    if (watcher.sink.deliver({ watcher, revision, events: wanted, compactRevision: 0 })) {
      this.#eventsSent += wanted.length;
      return true;
    }
    if (watcher.state === 'ended') return true;
    watcher.state = 'victim';
    watcher.refused = { revision, events: wanted };
    this.#victims.add(watcher);
    this.#scheduleVictims();
    return false;
  }

  #scheduleVictims(): void {
    this.#victimTimer ??= this.#clock.after(VICTIM_RETRY_MS, () => {
      this.#victimTimer = undefined;
      this.#offerVictims();
    });
  }

  #offerVictims(): void {
    for (const watcher of [...this.#victims]) {
      const { refused } = watcher;
      if (watcher.state !== 'victim' || refused === undefined) continue;
      if (!watcher.sink.deliver({ watcher, ...refused, compactRevision: 0 })) continue;
      this.#eventsSent += refused.events.length;
      this.#victims.delete(watcher);
      watcher.refused = undefined;
      if ((watcher.state as WatcherState) === 'ended') continue;
      if (watcher.nextRevision > this.#store.revision) this.#toSynced(watcher);
      else this.#toUnsynced(watcher);
    }
    if (this.#victims.size > 0) this.#scheduleVictims();
  }

  #scheduleSync(delayMs: number): void {
    this.#syncTimer ??= this.#clock.after(delayMs, () => {
      this.#syncTimer = undefined;
      const isMoving = this.#syncPass();
      if (this.#unsynced.size > 0) this.#scheduleSync(isMoving ? 0 : VICTIM_RETRY_MS);
    });
  }

  /** Brings some unsynced watchers one chunk of history nearer to the present; whether any moved. */
  #syncPass(): boolean {
    const chosen = this.#choose();
    if (chosen.size === 0) return false;
    let from = Infinity;
    for (const watcher of chosen.values()) from = Math.min(from, watcher.nextRevision);
    const { revision } = this.#store;
    const history = readHistory(this.#store, from, SYNC_EVENTS_MAX);
    const batches = new Map<Membership, readonly Event[]>();
    for (const [watcher, events] of matchEvents(chosen, history.events)) {
      const first = events.findIndex((event) => event.modRevision >= watcher.nextRevision);
      if (first >= 0) batches.set(watcher, first === 0 ? events : events.slice(first));
    }
    for (const watcher of chosen.values()) {
      if (watcher.state !== 'unsynced' || watcher.nextRevision >= history.nextRevision) continue;
      watcher.nextRevision = history.nextRevision;
      this.#unsynced.delete(watcher);
      const events = batches.get(watcher);
      if (events !== undefined && !this.#offer(watcher, revision, events)) continue;
      if ((watcher.state as WatcherState) === 'ended') continue;
      if (watcher.nextRevision > this.#store.revision) this.#toSynced(watcher);
      // At the end of the set: the others get their turn first.
      else this.#unsynced.add(watcher);
    }
    return true;
  }

  /** The next watchers to serve. Those that history cannot serve any more are told so and end here. */
  #choose(): WatcherGroup<Membership> {
    const { revision, compactRevision } = this.#store;
    const chosen = new WatcherGroup<Membership>();
    for (const watcher of [...this.#unsynced]) {
      if (chosen.size >= SYNC_WATCHERS_MAX) break;
      if (watcher.nextRevision < compactRevision) {
        const batch = { watcher, revision, events: NO_EVENTS, compactRevision };
        if (watcher.sink.deliver(batch)) this.#end(watcher);
      } else if (watcher.nextRevision > revision) {
        this.#unsynced.delete(watcher);
        this.#toSynced(watcher);
      } else {
        chosen.add(watcher);
      }
    }
    return chosen;
  }
}

const isFiltered = (filters: readonly WatchFilter[], event: Event): boolean =>
  filters.includes(event.type === 'put' ? 'noput' : 'nodelete');

/** Which watcher gets which events. One that gets all of them gets the very array, so it is encoded once. */
const matchEvents = (
  group: WatcherGroup<Membership>,
  events: readonly Event[],
): Iterable<readonly [Membership, readonly Event[]]> => {
  const [only] = events;
  if (only !== undefined && events.length === 1)
    return group.watching(only.key).map((watcher) => [watcher, events] as const);
  const matched = new Map<Membership, Event[]>();
  for (const event of events) {
    for (const watcher of group.watching(event.key)) {
      const list = matched.get(watcher);
      if (list === undefined) matched.set(watcher, [event]);
      else list.push(event);
    }
  }
  return [...matched].map(
    ([watcher, list]) => [watcher, list.length === events.length ? events : list] as const,
  );
};

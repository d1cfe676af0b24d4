import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { hasReason, messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { encodeContinue } from '../continue-token.ts';
import { StorageError, tooOld } from '../errors.ts';
import type { Store, StoreEvent } from '../store.ts';
import { CacheEvent, CachedObject, type Decode } from './cached-object.ts';
import { EventWindow, WINDOW_BOUNDS_DEFAULT, type WindowBounds } from './event-window.ts';
import type { ListTurns } from './list-turns.ts';
import { OrderedObjects } from './ordered-objects.ts';
import { RevisionWaiters } from './revision-waiters.ts';
import { CacheWatcher } from './watcher.ts';

const LIST_PAGE_ITEMS = 10_000;
const RELIST_PAUSE_MS_MIN = 50;
const RELIST_PAUSE_MS_MAX = 5_000;
/** Upstream's limit for a read that waits for a revision. */
const WAIT_LIMIT_MS = 3_000;
const BOOKMARK_INTERVAL_MS_DEFAULT = 60_000;
/** The newest events stay as they were told: who is late by a moment finds them ready. */
const READY_EVENTS_MIN = 128;
/** More is not kept ready for a watcher that is late. */
const READY_EVENTS_MAX = 8_192;
/** Clients of one resource; a server has other limits long before. */
const WATCHERS_MAX = 100_000;

export interface CacheCodec<T> {
  /** The object with `revision` as its resourceVersion. What it throws keeps the cache from being ready. */
  decode(key: string, value: Uint8Array, revision: number): T;
}

/** What the server's metrics are made of; each is called when it happened. */
export interface WatchCacheMetrics {
  listed?(items: number, seconds: number): void;
  eventsReceived?(count: number): void;
  relistNeeded?(reason: string): void;
  watcherEnded?(end: string): void;
  windowResized?(capacity: number): void;
  /** A read at the newest revision was answered by etcd because the cache was behind. */
  readFellBack?(): void;
}

export interface WatchCacheOptions<T> {
  readonly store: Store;
  /** `/registry/pods/` */
  readonly prefix: string;
  readonly codec: CacheCodec<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly window?: WindowBounds | undefined;
  readonly bookmarkIntervalMs?: number | undefined;
  readonly metrics?: WatchCacheMetrics | undefined;
  /** Of all caches together; without them, a list begins when its revision is known. */
  readonly turns?: ListTurns | undefined;
}

/** `any`: what the cache has. A number: not older than it. `latest`: all that was acknowledged before the call. */
export type ReadAt = 'any' | 'latest' | number;

export interface CacheListOptions {
  readonly at: ReadAt;
  readonly limit?: number | undefined;
}

export interface CacheListResult<T> {
  readonly objects: readonly CachedObject<T>[];
  readonly revision: number;
  readonly continueToken?: string;
  readonly remainingItemCount?: number;
}

export interface CacheWatchOptions<T> {
  /** Within the cache's prefix, say one namespace; the whole of it when absent. */
  readonly prefix?: string | undefined;
  /** A number: events after that revision. `now`: only what comes. `state`: what there is, as ADDED, then what comes. */
  readonly start: number | 'now' | 'state';
  /** How new the state must be; for `state` only. */
  readonly at?: ReadAt | undefined;
  /** Tell the end of the state with a bookmark (sendInitialEvents). */
  readonly stateBookmark?: boolean | undefined;
  /** Bookmarks from time to time (allowWatchBookmarks). */
  readonly bookmarks?: boolean | undefined;
  /**
   * False: the event is of no interest, and no one is woken for it. Must be cheap and always say the same. Objects of
   * the state are asked about as ADDED.
   */
  readonly wants?: ((event: CacheEvent<T>) => boolean) | undefined;
}

/** One resource in memory: a list and one watch of etcd serve every reader and every watcher. */
export class WatchCache<T> {
  readonly #options: WatchCacheOptions<T>;
  readonly #objects = new OrderedObjects<T>();
  readonly #window: EventWindow<T>;
  readonly #waiters: RevisionWaiters;
  readonly #watchers = new Map<string, Set<CacheWatcher<T>>>();
  readonly #decode: Decode<T>;
  #watcherCount = 0;
  #revision = 0;
  #watch: Disposable | undefined;
  #timer: Disposable | undefined;
  #bookmarkTimer: Disposable | undefined;
  #failures = 0;
  #closed = false;
  #capacity = 0;

  constructor(options: WatchCacheOptions<T>) {
    this.#options = options;
    this.#decode = (key, value, revision) => options.codec.decode(key, value, revision);
    this.#window = new EventWindow(options.window ?? WINDOW_BOUNDS_DEFAULT);
    this.#waiters = new RevisionWaiters(options.clock, () => void this.#askProgress());
  }

  start(): void {
    void this.#fill();
    this.#scheduleBookmarks();
  }

  /** Watchers are told what is pending, then end. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch?.dispose();
    this.#timer?.dispose();
    this.#bookmarkTimer?.dispose();
    this.#endWatchers('closed');
  }

  /** Everything up to here is known; 0 before the first list. */
  get revision(): number {
    return this.#revision;
  }

  get isReady(): boolean {
    return this.#revision > 0;
  }

  get size(): number {
    return this.#objects.size;
  }

  get watcherCount(): number {
    return this.#watcherCount;
  }

  /** Resolves when the first list is complete. */
  ready(limitMs: number = WAIT_LIMIT_MS): Promise<void> {
    return this.#reach(1, limitMs);
  }

  /** What the cache has now, if anything: a guess for who checks it against etcd. */
  peek(key: string): CachedObject<T> | undefined {
    return this.#objects.get(key);
  }

  async get(key: string, at: ReadAt): Promise<CachedObject<T>> {
    const isCached = await this.#prepare(at);
    if (!isCached) {
      const { value, revision } = await this.#options.store.get(key);
      return this.#objectOf(key, value, revision);
    }
    const object = this.#objects.get(key);
    if (object === undefined) throw new StorageError('NotFound', `key not found: ${key}`, { key });
    return object;
  }

  /** A consistent view of one revision; the page after it is read from the store with the token. */
  async list(prefix: string, options: CacheListOptions): Promise<CacheListResult<T>> {
    const isCached = await this.#prepareInTurn(options.at);
    if (!isCached) return this.#listFromStore(prefix, options.limit);
    const { objects, remaining } = this.#objects.range(prefix, { limit: options.limit });
    const last = objects.at(-1);
    const revision = this.#revision;
    if (remaining === 0 || last === undefined) return { objects, revision };
    const continueToken = encodeContinue({ startKey: `${last.key}\0`, revision }, prefix);
    return { objects, revision, continueToken, remainingItemCount: remaining };
  }

  /** Rejects with Expired when the start is older than what the cache can prove. */
  async watch(options: CacheWatchOptions<T>): Promise<CacheWatcher<T>> {
    const { start, stateBookmark = false } = options;
    await this.#reach(1, WAIT_LIMIT_MS);
    const prefix = options.prefix ?? this.#options.prefix;
    const isCached = start !== 'state' || (await this.#prepareInTurn(options.at ?? 'any'));
    const read = isCached ? undefined : await this.#listFromStore(prefix, undefined);
    // From here on in one turn: no event comes between the state and the first one told.
    if (this.#closed) throw new StorageError('Unavailable', 'the watch cache was closed');
    if (this.#watcherCount >= WATCHERS_MAX) throw new StorageError('TooManyRequests', 'too many watches');
    if (typeof start === 'number' && start < this.#window.floorRevision)
      throw tooOld(start, this.#window.floorRevision);
    // What was read from etcd is the state only while the cache is behind it: its events up to there are passed over.
    const ahead = read && read.revision > this.#revision ? read : undefined;
    const revision = ahead?.revision ?? this.#revision;
    const watcher = new CacheWatcher<T>({
      window: this.#window,
      prefix,
      afterRevision: typeof start === 'number' ? start : revision,
      state:
        start === 'state'
          ? this.#stateOf(ahead?.objects ?? this.#objects.range(prefix).objects, options.wants)
          : [],
      stateEnd:
        start === 'state' && stateBookmark
          ? { type: 'BOOKMARK', revision, initialEventsEnd: true }
          : undefined,
      bookmarks: options.bookmarks ?? false,
      wants: options.wants,
      onEnd: (ended) => this.#removeWatcher(ended),
    });
    if (typeof start === 'number') watcher.startAt(this.#window.firstAfter(start));
    const group = this.#watchers.get(prefix) ?? new Set();
    this.#watchers.set(prefix, group.add(watcher));
    this.#watcherCount += 1;
    return watcher;
  }

  #stateOf(
    objects: readonly CachedObject<T>[],
    wants: CacheWatchOptions<T>['wants'],
  ): readonly CachedObject<T>[] {
    return wants === undefined
      ? objects
      : objects.filter((object) => wants(new CacheEvent('ADDED', object, undefined)));
  }

  /** False when the answer has to come from etcd. */
  async #prepare(at: ReadAt): Promise<boolean> {
    if (at === 'any') {
      await this.#reach(1, WAIT_LIMIT_MS);
      return true;
    }
    const { store, metrics } = this.#options;
    const wanted = at === 'latest' ? await this.#newest() : at;
    if (this.#revision >= wanted) return true;
    try {
      // Without progress that can be trusted, a quiet resource would never reach the revision.
      if ((await store.requestProgress()) || (await this.#newest()) < wanted) {
        await this.#reach(wanted, WAIT_LIMIT_MS);
        return true;
      }
    } catch (error) {
      if (at !== 'latest' || !hasReason(error, 'ResourceVersionTooLarge')) throw error;
    }
    metrics?.readFellBack?.();
    return false;
  }

  /** Resolves in the turn in which a list may go through the objects. */
  async #prepareInTurn(at: ReadAt): Promise<boolean> {
    const isCached = await this.#prepare(at);
    const turn = isCached ? this.#options.turns?.enter() : undefined;
    if (turn === undefined) return isCached;
    await turn;
    // An object that cannot be read may have emptied the cache meanwhile.
    return this.isReady || this.#prepare(at);
  }

  #newest(): Promise<number> {
    return this.#options.store.currentRevision();
  }

  async #listFromStore(prefix: string, limit: number | undefined): Promise<CacheListResult<T>> {
    const { items, ...rest } = await this.#options.store.list(prefix, { limit });
    return {
      ...rest,
      objects: items.map(({ key, value, revision }) => this.#objectOf(key, value, revision)),
    };
  }

  async #reach(revision: number, limitMs: number): Promise<void> {
    if (this.#revision >= revision) return;
    if (this.#closed) throw new StorageError('Unavailable', 'the watch cache was closed');
    await this.#waiters.wait(revision, limitMs, () => this.#revision);
  }

  async #askProgress(): Promise<void> {
    if (this.#watch === undefined) return;
    try {
      await this.#options.store.requestProgress();
    } catch (error) {
      this.#options.log.write('debug', 'etcd did not take a progress request', { error: messageOf(error) });
    }
  }

  async #fill(): Promise<void> {
    const { clock, log, metrics, prefix } = this.#options;
    try {
      const startMs = clock.monotonicMs();
      const { objects, revision } = await this.#listAll();
      if (this.#closed) return;
      metrics?.listed?.(objects.length, (clock.monotonicMs() - startMs) / 1000);
      this.#replace(objects, revision);
      this.#follow(revision);
    } catch (error) {
      if (this.#closed) return;
      log.write('warn', 'a watch cache could not be filled', { prefix, error: messageOf(error) });
      this.#fillLater();
    }
  }

  /** Immediately the first time; with growing pauses until the watch has told something again. */
  #fillLater(): void {
    const { clock, random } = this.#options;
    const pauseMs = Math.min(RELIST_PAUSE_MS_MAX, RELIST_PAUSE_MS_MIN * 2 ** Math.min(this.#failures, 16));
    const delayMs = this.#failures === 0 ? 0 : pauseMs * (0.8 + 0.4 * random.next());
    this.#failures += 1;
    this.#timer = clock.after(delayMs, () => void this.#fill());
  }

  async #listAll(): Promise<{ objects: CachedObject<T>[]; revision: number }> {
    const { store, prefix } = this.#options;
    const objects: CachedObject<T>[] = [];
    let continueToken: string | undefined;
    for (;;) {
      const page = await store.list(prefix, { limit: LIST_PAGE_ITEMS, continueToken });
      for (const { key, value, revision } of page.items) objects.push(this.#objectOf(key, value, revision));
      continueToken = page.continueToken;
      if (continueToken === undefined) return { objects, revision: page.revision };
    }
  }

  #replace(objects: readonly CachedObject<T>[], revision: number): void {
    // The same revision is the same state: anyone who watches has missed nothing.
    if (revision === this.#revision) return;
    this.#endWatchers(tooOld(this.#revision, revision));
    this.#objects.replace(objects);
    this.#window.reset(revision);
    this.#advance(revision);
  }

  #follow(revision: number): void {
    const { store, prefix } = this.#options;
    this.#watch = store.watch(prefix, revision, {
      onEvents: (events, upTo) => this.#onEvents(events, upTo),
      onProgress: (upTo) => {
        this.#failures = 0;
        this.#advance(upTo);
      },
      onEnd: (error) => this.#relist(error),
    });
  }

  #relist(why: unknown): void {
    if (this.#closed) return;
    const { log, metrics, prefix } = this.#options;
    this.#watch?.dispose();
    this.#watch = undefined;
    const reason = why instanceof StorageError ? why.reason : 'Internal';
    metrics?.relistNeeded?.(reason);
    log.write('info', 'a watch cache lists anew', { prefix, reason, why: messageOf(why) });
    this.#fillLater();
  }

  #onEvents(events: readonly StoreEvent[], upTo: number): void {
    const { metrics, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    try {
      for (const event of events) {
        const change = this.#apply(event);
        // Offered one by one: a batch larger than the window must not pass an idle watcher unseen.
        if (change !== undefined) this.#offer(this.#window.push(change, nowMs), change);
      }
    } catch (error) {
      // An object that cannot be read: what follows it must not be told as if nothing were missing.
      this.#endWatchers(new StorageError('Expired', `an object cannot be read: ${messageOf(error)}`));
      this.#revision = 0;
      this.#relist(error);
      return;
    }
    this.#failures = 0;
    metrics?.eventsReceived?.(events.length);
    this.#tellCapacity();
    this.#advance(upTo);
    this.#endSlow();
  }

  #tellCapacity(): void {
    if (this.#window.capacity === this.#capacity) return;
    this.#capacity = this.#window.capacity;
    this.#options.metrics?.windowResized?.(this.#capacity);
  }

  #apply(event: StoreEvent): CacheEvent<T> | undefined {
    const { key, revision } = event;
    const previous = this.#objects.get(key);
    if (event.type === 'put') {
      const current = this.#objectOf(key, event.value!, revision);
      this.#objects.set(current);
      return new CacheEvent(previous === undefined ? 'ADDED' : 'MODIFIED', current, previous);
    }
    this.#objects.delete(key);
    if (previous === undefined) return undefined;
    return new CacheEvent('DELETED', this.#objectWith(key, previous.value, revision), previous);
  }

  #objectOf(key: string, value: Uint8Array, revision: number): CachedObject<T> {
    return this.#objectWith(key, new Uint8Array(value), revision);
  }

  #objectWith(key: string, value: Uint8Array, revision: number): CachedObject<T> {
    return new CachedObject(key, value, revision, this.#decode(key, value, revision), this.#decode);
  }

  #advance(revision: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#waiters.reached(revision);
  }

  #offer(seq: number, event: CacheEvent<T>): void {
    for (const [prefix, group] of this.#watchers)
      if (event.key.startsWith(prefix)) for (const watcher of group) watcher.offer(seq, event);
  }

  /** Ends watchers that the window has left behind, and puts aside what all others were told. */
  #endSlow(): void {
    const { firstSeq, nextSeq } = this.#window;
    let toldSeq = nextSeq - READY_EVENTS_MIN;
    for (const group of [...this.#watchers.values()])
      for (const watcher of [...group]) {
        const { pendingSeq } = watcher;
        if (pendingSeq === undefined) continue;
        if (pendingSeq < firstSeq) watcher.finish('slow');
        else toldSeq = Math.min(toldSeq, pendingSeq);
      }
    this.#window.putAside(Math.max(toldSeq, nextSeq - READY_EVENTS_MAX));
  }

  #scheduleBookmarks(): void {
    const { clock, bookmarkIntervalMs = BOOKMARK_INTERVAL_MS_DEFAULT } = this.#options;
    this.#bookmarkTimer = clock.after(bookmarkIntervalMs, () => {
      this.#window.trim(clock.monotonicMs());
      this.#tellCapacity();
      this.#endSlow();
      for (const group of this.#watchers.values()) for (const watcher of group) watcher.mark(this.#revision);
      // The next ones then say how far etcd is, also for a resource that no one writes.
      if (this.#watcherCount > 0) void this.#askProgress();
      this.#scheduleBookmarks();
    });
  }

  #endWatchers(end: 'closed' | StorageError): void {
    for (const group of [...this.#watchers.values()]) for (const watcher of [...group]) watcher.finish(end);
  }

  #removeWatcher(watcher: CacheWatcher<T>): void {
    const group = this.#watchers.get(watcher.options.prefix);
    if (group?.delete(watcher) !== true) return;
    if (group.size === 0) this.#watchers.delete(watcher.options.prefix);
    this.#watcherCount -= 1;
    this.#options.metrics?.watcherEnded?.(
      typeof watcher.end === 'object' ? watcher.end.reason : (watcher.end ?? 'disposed'),
    );
  }
}

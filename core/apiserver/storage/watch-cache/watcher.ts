import type { StorageError } from '../errors.ts';
import { CacheEvent, type CacheBookmark, type CachedObject, type WatchItem } from './cached-object.ts';
import type { EventWindow } from './event-window.ts';

/** Why a watch is over: the caller's own wish, the cache's end, or an error to tell the client. */
export type WatcherEnd = 'disposed' | 'closed' | 'slow' | StorageError;

export interface WatcherOptions<T> {
  readonly window: EventWindow<T>;
  readonly prefix: string;
  /** Events at or before it are not for this watcher. */
  readonly afterRevision: number;
  /** The state to begin with, told as ADDED. */
  readonly state: readonly CachedObject<T>[];
  readonly stateEnd: CacheBookmark | undefined;
  readonly bookmarks: boolean;
  readonly wants: ((event: CacheEvent<T>) => boolean) | undefined;
  readonly onEnd: (watcher: CacheWatcher<T>) => void;
}

/**
 * One client's view. It holds no events: it is a position in the shared window, so a client that does not read
 * costs nothing, and is ended as soon as the window has moved on without it. One consumer only.
 */
export class CacheWatcher<T> {
  readonly options: WatcherOptions<T>;
  #state: readonly CachedObject<T>[];
  #stateTold = 0;
  #stateEnd: CacheBookmark | undefined;
  /** The first event not told yet that is for this watcher; undefined when all are told. */
  #pendingSeq: number | undefined;
  #bookmark: CacheBookmark | undefined;
  #end: WatcherEnd | undefined;
  #waiting: (() => void) | undefined;

  constructor(options: WatcherOptions<T>) {
    this.options = options;
    this.#state = options.state;
    this.#stateEnd = options.stateEnd;
  }

  /** Set when the watch is over; what was pending then is still told, unless it is lost. */
  get end(): WatcherEnd | undefined {
    return this.#end;
  }

  get pendingSeq(): number | undefined {
    return this.#pendingSeq;
  }

  /** The next items, at most `itemsMax`; waits for the first. Undefined when the watch is over. */
  async next(itemsMax: number): Promise<readonly WatchItem<T>[] | undefined> {
    for (;;) {
      const items = this.#take(itemsMax);
      if (items.length > 0) return items;
      if (this.#end !== undefined) return undefined;
      await new Promise<void>((resolve) => (this.#waiting = resolve));
    }
  }

  async *batches(itemsMax: number): AsyncGenerator<readonly WatchItem<T>[], void, void> {
    for (let items = await this.next(itemsMax); items !== undefined; items = await this.next(itemsMax))
      yield items;
  }

  dispose(): void {
    this.finish('disposed');
  }

  /** The cache's side: an event of this watcher's prefix was put into the window. */
  offer(seq: number, event: CacheEvent<T>): void {
    if (this.#pendingSeq !== undefined || this.#end !== undefined || !this.#isFor(event)) return;
    this.#pendingSeq = seq;
    this.#wake();
  }

  /** The cache's side: starts at an event that is in the window already. */
  startAt(seq: number): void {
    if (seq < this.options.window.nextSeq) this.#pendingSeq = seq;
  }

  /** The cache's side. A watcher with events to tell needs no bookmark: their revisions say more. */
  mark(revision: number): void {
    if (
      !this.options.bookmarks ||
      this.#pendingSeq !== undefined ||
      this.#stateLeft ||
      this.#end !== undefined
    )
      return;
    if (revision <= this.options.afterRevision && this.options.afterRevision > 0) return;
    this.#bookmark = { type: 'BOOKMARK', revision, initialEventsEnd: false };
    this.#wake();
  }

  /** The cache's side: no more events will be offered. */
  finish(end: WatcherEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    // A gap may follow what is pending unless the cache ended in order: tell none of it.
    if (end !== 'closed') {
      this.#pendingSeq = undefined;
      this.#state = [];
      this.#stateEnd = undefined;
    }
    this.options.onEnd(this);
    this.#wake();
  }

  get #stateLeft(): boolean {
    return this.#stateTold < this.#state.length || this.#stateEnd !== undefined;
  }

  #take(itemsMax: number): WatchItem<T>[] {
    if (this.#stateLeft) return this.#takeState(itemsMax);
    const items = this.#takeEvents(itemsMax);
    if (items.length > 0) {
      this.#bookmark = undefined;
      return items;
    }
    const bookmark = this.#bookmark;
    this.#bookmark = undefined;
    return bookmark === undefined ? [] : [bookmark];
  }

  #takeState(itemsMax: number): WatchItem<T>[] {
    const items: WatchItem<T>[] = this.#state
      .slice(this.#stateTold, this.#stateTold + itemsMax)
      .map((object) => new CacheEvent('ADDED', object, undefined));
    this.#stateTold += items.length;
    if (this.#stateTold < this.#state.length) return items;
    this.#state = [];
    this.#stateTold = 0;
    if (this.#stateEnd !== undefined) items.push(this.#stateEnd);
    this.#stateEnd = undefined;
    return items;
  }

  #takeEvents(itemsMax: number): WatchItem<T>[] {
    const { window } = this.options;
    const items: WatchItem<T>[] = [];
    if (this.#pendingSeq === undefined) return items;
    if (this.#pendingSeq < window.firstSeq) {
      this.finish('slow');
      return items;
    }
    let seq = this.#pendingSeq;
    for (; seq < window.nextSeq && items.length < itemsMax; seq += 1) {
      const event = window.at(seq);
      if (event.key.startsWith(this.options.prefix) && this.#isFor(event)) items.push(event);
    }
    this.#pendingSeq = seq < window.nextSeq ? seq : undefined;
    return items;
  }

  #isFor(event: CacheEvent<T>): boolean {
    return event.revision > this.options.afterRevision && this.options.wants?.(event) !== false;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}

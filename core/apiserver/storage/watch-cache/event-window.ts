import { assert } from '../../../base/assert.ts';
import type { CacheEvent } from './cached-object.ts';

export interface WindowBounds {
  readonly eventsMin: number;
  readonly eventsMax: number;
  /** Events younger than this are kept as long as `eventsMax` allows. */
  readonly freshMs: number;
  /** Events older than this are kept up to `eventsMin`. */
  readonly keptMs: number;
}

/**
 * Upstream's: a client that lost its watch has more than a minute to come back. What is older than the interval of etcd's
 * compaction is of no use to anybody, and would stay after a busy hour until as many events have come again.
 */
export const WINDOW_BOUNDS_DEFAULT: WindowBounds = {
  eventsMin: 100,
  eventsMax: 102_400,
  freshMs: 75_000,
  keptMs: 300_000,
};

interface Slot<T> {
  readonly event: CacheEvent<T>;
  readonly atMs: number;
}

/**
 * The recent events of one resource, oldest first, each with a sequence number that never comes back. It grows
 * while events are lost too young and shrinks when most of it is old.
 */
export class EventWindow<T> {
  readonly #bounds: WindowBounds;
  #slots: (Slot<T> | undefined)[];
  #firstSeq = 0;
  #nextSeq = 0;
  #asideSeq = 0;
  #floorRevision = 0;

  constructor(bounds: WindowBounds) {
    assert(bounds.eventsMin > 0 && bounds.eventsMax >= bounds.eventsMin, 'a window holds at least one event');
    this.#bounds = bounds;
    this.#slots = new Array<Slot<T> | undefined>(bounds.eventsMin);
  }

  /** Every event after this revision is here; what was at or before it may be gone. */
  get floorRevision(): number {
    return this.#floorRevision;
  }

  get firstSeq(): number {
    return this.#firstSeq;
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  get capacity(): number {
    return this.#slots.length;
  }

  /** Forgets all: what comes next comes after `revision`. */
  reset(revision: number): void {
    this.#slots = new Array<Slot<T> | undefined>(this.#bounds.eventsMin);
    this.#firstSeq = this.#nextSeq;
    this.#floorRevision = revision;
  }

  /** Returns the event's sequence number. Revisions never fall. */
  push(event: CacheEvent<T>, nowMs: number): number {
    if (this.#nextSeq - this.#firstSeq === this.#slots.length) this.#makeRoom(nowMs);
    this.#slots[this.#nextSeq % this.#slots.length] = { event, atMs: nowMs };
    this.#nextSeq += 1;
    return this.#nextSeq - 1;
  }

  /** The event with this number, which must be within the window. */
  at(seq: number): CacheEvent<T> {
    return this.#slot(seq).event;
  }

  /** The number of the first event after `revision`; `nextSeq` when there is none. */
  firstAfter(revision: number): number {
    let low = this.#firstSeq;
    let high = this.#nextSeq;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#slot(middle).event.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Evicts events before `seq`: a watcher that returns to them decodes them again. */
  putAside(seq: number): void {
    for (let at = Math.max(this.#asideSeq, this.#firstSeq); at < seq; at += 1) this.at(at).putAside();
    this.#asideSeq = Math.max(this.#asideSeq, seq);
  }

  /** Forgets what is too old; call from time to time. */
  trim(nowMs: number): void {
    const { eventsMin, keptMs } = this.#bounds;
    while (this.#nextSeq - this.#firstSeq > eventsMin && nowMs - this.#slot(this.#firstSeq).atMs >= keptMs)
      this.#evict();
    let capacity = this.#slots.length;
    while (capacity > eventsMin && (this.#nextSeq - this.#firstSeq) * 4 <= capacity)
      capacity = Math.max(Math.floor(capacity / 2), eventsMin);
    if (capacity !== this.#slots.length) this.#resize(capacity);
  }

  #makeRoom(nowMs: number): void {
    const { eventsMin, eventsMax, freshMs } = this.#bounds;
    const capacity = this.#slots.length;
    const isFresh = (seq: number): boolean => nowMs - this.#slot(seq).atMs < freshMs;
    if (isFresh(this.#firstSeq) && capacity < eventsMax) {
      this.#resize(Math.min(capacity * 2, eventsMax));
      return;
    }
    if (capacity > eventsMin && !isFresh(this.#nextSeq - Math.ceil(capacity / 4))) {
      const smaller = Math.max(Math.floor(capacity / 2), eventsMin);
      while (this.#nextSeq - this.#firstSeq > smaller) this.#evict();
      this.#resize(smaller);
    }
    if (this.#nextSeq - this.#firstSeq === this.#slots.length) this.#evict();
  }

  #evict(): void {
    this.#floorRevision = this.#slot(this.#firstSeq).event.revision;
    this.#slots[this.#firstSeq % this.#slots.length] = undefined;
    this.#firstSeq += 1;
  }

  #resize(capacity: number): void {
    const slots = new Array<Slot<T> | undefined>(capacity);
    for (let seq = this.#firstSeq; seq < this.#nextSeq; seq += 1) slots[seq % capacity] = this.#slot(seq);
    this.#slots = slots;
  }

  #slot(seq: number): Slot<T> {
    const slot = this.#slots[seq % this.#slots.length];
    assert(seq >= this.#firstSeq && seq < this.#nextSeq && slot, 'the event is outside the window');
    return slot;
  }
}

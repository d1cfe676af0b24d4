import { assert } from '../../base/assert.ts';
import { OrderedKeys, type Block, type Keyed } from './ordered-keys.ts';
import type { KeySpan, KeyString } from './model.ts';
import type { Revision } from './revision.ts';

/**
 * All revisions of one key that history still holds, oldest first, in one flat array: main at 2i, and at 2i+1
 * the sub revision doubled, plus one where the revision is a deletion. A deletion ends a generation; the next
 * put starts a new one with version 1. `created` and `version` describe the living generation and are zero
 * when the last revision is a deletion.
 */
export class KeyRevisions implements Keyed {
  readonly key: KeyString;
  created = 0;
  version = 0;
  block: Block<Keyed> | undefined;
  #revisions: number[] = [];

  constructor(key: KeyString) {
    this.key = key;
  }

  get live(): boolean {
    return this.version > 0;
  }
  get isEmpty(): boolean {
    return this.#revisions.length === 0;
  }
  get newest(): number {
    return this.#revisions[this.#revisions.length - 2] ?? 0;
  }
  get lastSub(): number {
    return (this.#revisions[this.#revisions.length - 1] ?? 0) >>> 1;
  }

  put(main: number, sub: number): void {
    if (this.version === 0) {
      this.created = main;
      if (this.block !== undefined) this.block.liveCount += 1;
    }
    this.version += 1;
    this.#revisions.push(main, sub * 2);
    if (this.block !== undefined) this.block.newest = main;
  }

  tombstone(main: number, sub: number): void {
    if (this.block !== undefined) {
      if (this.live) this.block.liveCount -= 1;
      this.block.newest = main;
    }
    this.created = 0;
    this.version = 0;
    this.#revisions.push(main, sub * 2 + 1);
  }

  /** The first revision seen when the index is rebuilt: what came before it is compacted. */
  restore(main: number, sub: number, created: number, version: number): void {
    this.created = created;
    this.version = version;
    this.#revisions.push(main, sub * 2);
  }

  /** The revision that a reader at `atMain` sees, undefined when the key does not exist there. */
  at(atMain: number): Revision | undefined {
    const i = this.#indexAt(atMain);
    if (i < 0 || this.#isTombstone(i)) return undefined;
    return this.#revision(i);
  }

  /** What a compaction at `atMain` leaves of the revisions up to there, if anything. */
  keptBy(atMain: number): Revision | undefined {
    const i = this.#indexAt(atMain);
    if (i < 0) return undefined;
    // A deletion at the compacted revision itself stays, for watchers that start there.
    if (this.#isTombstone(i) && this.#revisions[2 * i] !== atMain) return undefined;
    return this.#revision(i);
  }

  compact(atMain: number): void {
    const i = this.#indexAt(atMain);
    if (i < 0) return;
    const dropped = this.#isTombstone(i) && this.#revisions[2 * i] !== atMain ? i + 1 : i;
    if (dropped > 0) this.#revisions.splice(0, dropped * 2);
  }

  /** Position of the last revision not above `atMain`, -1 without one. Readers mostly ask for the newest. */
  #indexAt(atMain: number): number {
    let high = this.#revisions.length >> 1;
    if (high > 0 && this.newest <= atMain) return high - 1;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#revisions[2 * middle] as number) <= atMain) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #isTombstone(i: number): boolean {
    return ((this.#revisions[2 * i + 1] as number) & 1) === 1;
  }

  #revision(i: number): Revision {
    return {
      main: this.#revisions[2 * i] as number,
      sub: (this.#revisions[2 * i + 1] as number) >>> 1,
    };
  }
}

/** Which revisions each key has, in memory; the values are in the backend. */
export class KeyIndex {
  readonly #byKey = new Map<KeyString, KeyRevisions>();
  readonly #ordered = new OrderedKeys<KeyRevisions>();

  get size(): number {
    return this.#byKey.size;
  }

  get(key: KeyString): KeyRevisions | undefined {
    return this.#byKey.get(key);
  }

  /** `known` is what `get` gave for the key. */
  put(key: KeyString, main: number, sub: number, known = this.#byKey.get(key)): void {
    let revisions = known;
    if (revisions === undefined) {
      revisions = new KeyRevisions(key);
      this.#byKey.set(key, revisions);
      this.#ordered.insert(revisions);
    }
    revisions.put(main, sub);
  }

  tombstone(key: KeyString, main: number, sub: number): void {
    const revisions = this.#byKey.get(key);
    assert(revisions?.live === true, 'only a key that exists can be deleted');
    revisions.tombstone(main, sub);
  }

  /** Visits the keys of a span that have any history, in order, until `visit` answers false. */
  walk(span: KeySpan, visit: (revisions: KeyRevisions) => boolean): void {
    if (span.end === undefined) {
      const revisions = this.#byKey.get(span.start);
      if (revisions !== undefined) visit(revisions);
      return;
    }
    this.#ordered.walk(span.start, span.end, visit);
  }

  /** How many keys of a span exist at a revision. */
  count(span: KeySpan, at: number): number {
    if (span.end === undefined) return this.#byKey.get(span.start)?.at(at) === undefined ? 0 : 1;
    return this.#ordered.countLive(span.start, span.end, at, (revisions) => revisions.at(at) !== undefined);
  }

  drop(key: KeyString): void {
    if (this.#byKey.delete(key)) this.#ordered.remove(key);
  }

  /** During a rebuild keys come in revision order; `restored` then sorts them once. */
  restoring(key: KeyString): KeyRevisions {
    let revisions = this.#byKey.get(key);
    if (revisions === undefined) {
      revisions = new KeyRevisions(key);
      this.#byKey.set(key, revisions);
    }
    return revisions;
  }

  restored(): void {
    const all = [...this.#byKey.values()];
    all.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    this.#ordered.load(all);
  }
}

import type { KeyString } from './model.ts';

const BLOCK_ITEMS_MAX = 512;

/** How an item is found: items are ordered by `key`, which never changes. */
export interface Keyed {
  readonly key: KeyString;
}

/**
 * A sorted list of items in blocks of a few hundred: an insertion moves at most one block, and a walk runs over
 * plain arrays. A million keys are two thousand blocks, found by one binary search in the array of first keys.
 */
export class OrderedKeys<T extends Keyed> {
  #blocks: T[][] = [];
  #firsts: KeyString[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Replaces everything by items that are already sorted. */
  load(sorted: readonly T[]): void {
    const fill = (BLOCK_ITEMS_MAX * 3) / 4;
    this.#blocks = [];
    for (let at = 0; at < sorted.length; at += fill) this.#blocks.push(sorted.slice(at, at + fill));
    this.#firsts = this.#blocks.map((block) => (block[0] as T).key);
    this.#size = sorted.length;
  }

  /** The caller knows that no item of this key is in the list. */
  insert(item: T): void {
    this.#size += 1;
    const at = Math.max(0, this.#blockOf(item.key));
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#blocks.push([item]);
      this.#firsts.push(item.key);
      return;
    }
    const position = lowerBound(block, item.key);
    if (position === block.length && block.length >= BLOCK_ITEMS_MAX && at === this.#blocks.length - 1) {
      // Keys that only grow would leave half-empty blocks behind if blocks were always cut in the middle.
      this.#blocks.push([item]);
      this.#firsts.push(item.key);
      return;
    }
    if (position === block.length) block.push(item);
    else block.splice(position, 0, item);
    if (position === 0) this.#firsts[at] = item.key;
    if (block.length > BLOCK_ITEMS_MAX) this.#split(at, block);
  }

  remove(key: KeyString): boolean {
    const at = this.#blockOf(key);
    const block = this.#blocks[at];
    if (block === undefined) return false;
    const position = lowerBound(block, key);
    if (block[position]?.key !== key) return false;
    block.splice(position, 1);
    this.#size -= 1;
    const first = block[0];
    if (first === undefined) {
      this.#blocks.splice(at, 1);
      this.#firsts.splice(at, 1);
    } else {
      this.#firsts[at] = first.key;
    }
    return true;
  }

  /** Visits items in [start, end) in order until `visit` answers false; `end` '' has no bound. */
  walk(start: KeyString, end: KeyString, visit: (item: T) => boolean): void {
    let at = Math.max(0, this.#blockOf(start));
    let position = lowerBound(this.#blocks[at] ?? [], start);
    for (; at < this.#blocks.length; at += 1, position = 0) {
      const block = this.#blocks[at] as T[];
      for (; position < block.length; position += 1) {
        const item = block[position] as T;
        if (end !== '' && item.key >= end) return;
        if (!visit(item)) return;
      }
    }
  }

  #split(at: number, block: T[]): void {
    const upper = block.splice(block.length >> 1);
    this.#blocks.splice(at + 1, 0, upper);
    this.#firsts.splice(at + 1, 0, (upper[0] as T).key);
  }

  /** The last block whose first key is not above `key`; -1 when all are. */
  #blockOf(key: KeyString): number {
    let low = 0;
    let high = this.#firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#firsts[middle] as KeyString) <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

const lowerBound = (block: readonly Keyed[], key: KeyString): number => {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((block[middle] as Keyed).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
};

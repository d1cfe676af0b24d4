import type { KeyString } from './model.ts';

const BLOCK_ITEMS_MAX = 512;

/** Neighbours in order, and what is known of all of them together. */
export interface Block<T> {
  readonly items: T[];
  /** How many of the items are live. */
  liveCount: number;
  /** No item changed after this revision. */
  newest: number;
}

/** Items are ordered by `key`, which never changes, and know the block they are in, which does. */
export interface Keyed {
  readonly key: KeyString;
  readonly live: boolean;
  readonly newest: number;
  block: Block<Keyed> | undefined;
}

/**
 * A sorted list of items in blocks of a few hundred: an insertion moves at most one block, and a walk runs over
 * plain arrays. A million keys are two thousand blocks, found by one binary search in the array of first keys.
 * Anyone who changes whether an item is live also changes the tally of its block.
 */
export class OrderedKeys<T extends Keyed> {
  #blocks: Block<T>[] = [];
  #firsts: KeyString[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Replaces everything by items that are already sorted. */
  load(sorted: readonly T[]): void {
    const fill = (BLOCK_ITEMS_MAX * 3) / 4;
    this.#blocks = [];
    for (let at = 0; at < sorted.length; at += fill) this.#blocks.push(newBlock(sorted.slice(at, at + fill)));
    this.#firsts = this.#blocks.map(({ items }) => (items[0] as T).key);
    this.#size = sorted.length;
  }

  /** The caller knows that no item of this key is in the list. */
  insert(item: T): void {
    this.#size += 1;
    const at = Math.max(0, this.#blockOf(item.key));
    const block = this.#blocks[at];
    const position = block === undefined ? 0 : lowerBound(block.items, item.key);
    const isBehindAll = at >= this.#blocks.length - 1 && position === (block?.items.length ?? 0);
    // Keys that only grow would leave half-empty blocks behind if blocks were always cut in the middle.
    if (block === undefined || (isBehindAll && block.items.length >= BLOCK_ITEMS_MAX)) {
      this.#blocks.push(newBlock([item]));
      this.#firsts.push(item.key);
      return;
    }
    if (position === block.items.length) block.items.push(item);
    else block.items.splice(position, 0, item);
    item.block = block as Block<Keyed>;
    if (item.live) block.liveCount += 1;
    block.newest = Math.max(block.newest, item.newest);
    if (position === 0) this.#firsts[at] = item.key;
    if (block.items.length > BLOCK_ITEMS_MAX) this.#split(at, block);
  }

  remove(key: KeyString): boolean {
    const at = this.#blockOf(key);
    const block = this.#blocks[at];
    if (block === undefined) return false;
    const position = lowerBound(block.items, key);
    const item = block.items[position];
    if (item?.key !== key) return false;
    block.items.splice(position, 1);
    if (item.live) block.liveCount -= 1;
    item.block = undefined;
    this.#size -= 1;
    const first = block.items[0];
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
    let position = lowerBound(this.#blocks[at]?.items ?? [], start);
    for (; at < this.#blocks.length; at += 1, position = 0) {
      const { items } = this.#blocks[at] as Block<T>;
      for (; position < items.length; position += 1) {
        const item = items[position] as T;
        if (end !== '' && item.key >= end) return;
        if (!visit(item)) return;
      }
    }
  }

  /**
   * How many items of [start, end) were live at a revision. A block that lies within the range and has not
   * changed since is counted by its tally, so this costs a step per block, not per item.
   */
  countLive(start: KeyString, end: KeyString, at: number, wasLive: (item: T) => boolean): number {
    let count = 0;
    for (let b = Math.max(0, this.#blockOf(start)); b < this.#blocks.length; b += 1) {
      const { items, liveCount, newest } = this.#blocks[b] as Block<T>;
      if (end !== '' && (this.#firsts[b] as KeyString) >= end) break;
      const isWithin =
        (this.#firsts[b] as KeyString) >= start && (end === '' || (items[items.length - 1] as T).key < end);
      if (isWithin && newest <= at) {
        count += liveCount;
        continue;
      }
      for (const item of items)
        if (item.key >= start && (end === '' || item.key < end) && wasLive(item)) count += 1;
    }
    return count;
  }

  #split(at: number, block: Block<T>): void {
    const lower = newBlock(block.items.slice(0, block.items.length >> 1));
    const upper = newBlock(block.items.slice(block.items.length >> 1));
    this.#blocks.splice(at, 1, lower, upper);
    this.#firsts.splice(at + 1, 0, (upper.items[0] as T).key);
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

const newBlock = <T extends Keyed>(items: T[]): Block<T> => {
  const block: Block<T> = { items, liveCount: 0, newest: 0 };
  for (const item of items) {
    item.block = block as Block<Keyed>;
    if (item.live) block.liveCount += 1;
    block.newest = Math.max(block.newest, item.newest);
  }
  return block;
};

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

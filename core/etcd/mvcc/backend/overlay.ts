import type { Bucket, Entry } from './backend.ts';
import type { Write } from './engine.ts';

class BucketOverlay {
  readonly writes = new Map<string, Write>();
  #sorted: string[] = [];
  #isSorted = true;

  set(name: string, write: Write): void {
    if (!this.writes.has(name)) {
      const last = this.#sorted[this.#sorted.length - 1];
      // Revisions only grow, so the key bucket, the large one, never needs sorting.
      if (last !== undefined && name < last) this.#isSorted = false;
      this.#sorted.push(name);
    }
    this.writes.set(name, write);
  }

  /** Writes in [from, to), ascending. */
  *range(from: string, to: string | undefined): Generator<[string, Write]> {
    if (!this.#isSorted) {
      this.#sorted.sort();
      this.#isSorted = true;
    }
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] as string) < from) low = middle + 1;
      else high = middle;
    }
    for (; low < this.#sorted.length; low += 1) {
      const name = this.#sorted[low] as string;
      if (to !== undefined && name >= to) return;
      yield [name, this.writes.get(name) as Write];
    }
  }
}

/** Writes that a commit has yet to carry, laid over what the engine holds. */
export class Overlay {
  readonly #buckets = new Map<Bucket, BucketOverlay>();
  #writeCount = 0;
  #byteCount = 0;

  get writeCount(): number {
    return this.#writeCount;
  }
  get byteCount(): number {
    return this.#byteCount;
  }

  set(bucket: Bucket, key: Buffer, value: Buffer | undefined): void {
    let overlay = this.#buckets.get(bucket);
    if (overlay === undefined) {
      overlay = new BucketOverlay();
      this.#buckets.set(bucket, overlay);
    }
    overlay.set(key.toString('latin1'), { bucket, key, value });
    this.#writeCount += 1;
    this.#byteCount += key.byteLength + (value?.byteLength ?? 0);
  }

  get(bucket: Bucket, name: string): Write | undefined {
    return this.#buckets.get(bucket)?.writes.get(name);
  }

  range(bucket: Bucket, from: string, to: string | undefined): Iterable<[string, Write]> {
    return this.#buckets.get(bucket)?.range(from, to) ?? [];
  }

  writes(): Write[] {
    const all: Write[] = [];
    for (const overlay of this.#buckets.values())
      for (const write of overlay.writes.values()) all.push(write);
    return all;
  }
}

/** `below` with `above` laid over it: one ascending list of at most `limit` entries. */
export const mergeRange = (
  below: (from: Uint8Array, limit: number) => Entry[],
  above: Iterable<[string, Write]>,
  from: Uint8Array,
  limit: number,
): Entry[] => {
  const over = above[Symbol.iterator]();
  let next = over.next();
  if (next.done) return below(from, limit);
  const merged: Entry[] = [];
  const take = ({ key, value }: Write): void => {
    if (value !== undefined) merged.push({ key, value });
  };
  for (let start = from; ;) {
    const chunk = below(start, limit);
    for (const entry of chunk) {
      const name = entry.key.toString('latin1');
      for (; !next.done && next.value[0] < name && merged.length < limit; next = over.next())
        take(next.value[1]);
      if (merged.length >= limit) return merged;
      if (!next.done && next.value[0] === name) {
        take(next.value[1]);
        next = over.next();
      } else {
        merged.push(entry);
      }
    }
    const last = chunk[chunk.length - 1];
    if (chunk.length < limit || merged.length >= limit || last === undefined) break;
    // Deletions above swallowed some of a full chunk from below: there may be more.
    start = Buffer.concat([last.key, Buffer.of(0)]);
  }
  for (; !next.done && merged.length < limit; next = over.next()) take(next.value[1]);
  return merged;
};

import type { Clock } from '../../../base/clock.ts';
import { OrderedKeys, type Block, type Keyed } from '../ordered-keys.ts';
import { BUCKETS, type BackendSize, type Bucket, type Entry } from './backend.ts';
import { BufferedBackend } from './buffered-backend.ts';
import type { Engine, EngineSnapshot, Write } from './engine.ts';

class Item implements Keyed {
  readonly key: string;
  readonly live = true;
  readonly newest = 0;
  block: Block<Keyed> | undefined;
  entry: Entry;

  constructor(key: string, entry: Entry) {
    this.key = key;
    this.entry = entry;
  }
}

class MemoryBucket {
  readonly byKey = new Map<string, Item>();
  readonly ordered = new OrderedKeys<Item>();
  byteCount = 0;

  copy(): MemoryBucket {
    const copy = new MemoryBucket();
    const items: Item[] = [];
    this.ordered.walk('', '', ({ key, entry }) => items.push(new Item(key, entry)) > 0);
    for (const item of items) copy.byKey.set(item.key, item);
    copy.ordered.load(items);
    return copy;
  }
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/**
 * What a disk would hold. It outlives the backends opened on it, so a crash is: forget the backend, open
 * another on the same disk, which then holds the last commit.
 */
export class MemoryDatabase {
  #buckets = new Map<Bucket, MemoryBucket>(BUCKETS.map((bucket) => [bucket, new MemoryBucket()]));
  #crashCount = 0;

  /** What open backends still have in memory is lost, commits in progress included. */
  crash(): void {
    this.#crashCount += 1;
  }

  open(options: {
    readonly clock: Clock;
    readonly onCommitFailed?: (error: unknown) => void;
    /** Delays or fails commits; the default commits immediately. */
    readonly beforeCommit?: () => Promise<void>;
    readonly commitIntervalMs?: number;
    readonly commitWritesMax?: number;
  }): BufferedBackend {
    const life = this.#crashCount;
    const isDead = (): boolean => this.#crashCount !== life;
    const engine = memoryEngine(() => this.#buckets, isDead, options.beforeCommit);
    return new BufferedBackend(engine, {
      clock: options.clock,
      onCommitFailed: options.onCommitFailed ?? (() => {}),
      commitIntervalMs: options.commitIntervalMs,
      commitWritesMax: options.commitWritesMax,
    });
  }
}

const memoryEngine = (
  current: () => Map<Bucket, MemoryBucket>,
  isDead: () => boolean,
  beforeCommit: (() => Promise<void>) | undefined,
): Engine => {
  const reader = (buckets: Map<Bucket, MemoryBucket>) => ({
    get: (bucket: Bucket, key: Uint8Array) => buckets.get(bucket)?.byKey.get(latin1(key))?.entry.value,
    range(bucket: Bucket, from: Uint8Array, to: Uint8Array | undefined, limit: number): Entry[] {
      const found: Entry[] = [];
      if (limit <= 0) return found;
      const end = to === undefined ? '' : latin1(to);
      buckets.get(bucket)?.ordered.walk(latin1(from), end, ({ entry }) => found.push(entry) < limit);
      return found;
    },
  });
  return {
    ...reader(current()),
    async commit(writes: readonly Write[]) {
      await beforeCommit?.();
      if (isDead()) return;
      for (const write of writes) apply(current().get(write.bucket) as MemoryBucket, write);
    },
    snapshot(): EngineSnapshot {
      const copy = new Map([...current()].map(([name, bucket]) => [name, bucket.copy()] as const));
      return { ...reader(copy), dispose() {} };
    },
    async defragment() {},
    size(): BackendSize {
      let bytes = 0;
      for (const { byteCount } of current().values()) bytes += byteCount;
      return { totalBytes: bytes, inUseBytes: bytes };
    },
    async close() {},
  };
};

const sizeOf = ({ key, value }: Entry): number => key.byteLength + value.byteLength;

const apply = (bucket: MemoryBucket, { key, value }: Write): void => {
  const name = latin1(key);
  const item = bucket.byKey.get(name);
  if (item !== undefined) bucket.byteCount -= sizeOf(item.entry);
  if (value === undefined) {
    if (bucket.byKey.delete(name)) bucket.ordered.remove(name);
    return;
  }
  const entry = { key, value };
  bucket.byteCount += sizeOf(entry);
  if (item !== undefined) {
    item.entry = entry;
    return;
  }
  const added = new Item(name, entry);
  bucket.byKey.set(name, added);
  bucket.ordered.insert(added);
};

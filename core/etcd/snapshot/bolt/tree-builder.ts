import { failure } from '../failure.ts';
import {
  BUCKET_HEADER_BYTES,
  KEY_BYTES_MAX,
  LEAF_ELEMENT_BYTES,
  PAGE_BYTES,
  VALUE_BYTES_MAX,
  compareBytes,
  writeU64,
} from './format.ts';
import { leafBuffer, type LeafItem } from './leaf-buffer.ts';
import { branchBytes, branchContent, type BranchItem, type PageSink } from './page-sink.ts';

/** bbolt keeps a bucket in its parent's page up to a quarter of a page. */
const INLINE_BYTES_MAX = PAGE_BYTES / 4;
/** bbolt merges neighbours on delete and panics where a branch page has a single child. */
const BRANCH_ITEMS_MIN = 2;

export interface TreeBuilder {
  /** Keys must ascend. Throws InvalidEntry or OutOfOrder. */
  add(item: LeafItem): void;
  /** Writes what is left; the root page, even of an empty tree. */
  finish(): number;
  /** As `finish`, but yields the value of a bucket element, which is the bucket itself if small enough. */
  finishBucket(): Uint8Array;
}

/**
 * One level of branch pages. A full page is held back until its follower has two items, so that the last
 * page of a level never ends up with a single child.
 */
const branchLevel = (sink: PageSink, emit: (item: BranchItem) => void) => {
  let held: BranchItem[] = [];
  let open: BranchItem[] = [];
  let openBytes = branchBytes([]);

  const write = (items: readonly BranchItem[]): void => {
    const first = items[0];
    if (first !== undefined) emit({ key: first.key, child: sink.write(branchContent(items)) });
  };

  return {
    /** True while all items fit into one page: then this level is the root. */
    get isSinglePage() {
      return held.length === 0;
    },
    get items(): readonly BranchItem[] {
      return open;
    },
    add(item: BranchItem): void {
      const itemBytes = LEAF_ELEMENT_BYTES + item.key.length;
      if (open.length >= BRANCH_ITEMS_MIN && openBytes + itemBytes > PAGE_BYTES) {
        write(held);
        held = open;
        open = [];
        openBytes = branchBytes([]);
      }
      open.push(item);
      openBytes += itemBytes;
    },
    flush(): void {
      if (held.length > 0 && open.length < BRANCH_ITEMS_MIN) {
        const moved = held.length > BRANCH_ITEMS_MIN ? held.pop() : undefined;
        if (moved !== undefined) open.unshift(moved);
        else {
          held.push(...open);
          open = [];
        }
      }
      write(held);
      write(open);
      held = [];
      open = [];
    },
  };
};

type BranchLevel = ReturnType<typeof branchLevel>;

const assertFits = ({ key, value }: LeafItem): void => {
  if (key.length === 0) throw failure('InvalidEntry', 'a key is empty; bbolt has no empty keys');
  if (key.length > KEY_BYTES_MAX) {
    throw failure('InvalidEntry', `a key has ${key.length} bytes; bbolt takes at most ${KEY_BYTES_MAX}`);
  }
  if (value.length > VALUE_BYTES_MAX) {
    throw failure(
      'InvalidEntry',
      `a value has ${value.length} bytes; bbolt takes at most ${VALUE_BYTES_MAX}`,
    );
  }
};

/**
 * Builds one bucket's tree bottom-up from sorted items. In memory are at most one leaf page and, per level,
 * two branch pages; pages go to the sink as they fill, children before parents.
 */
export const treeBuilder = (sink: PageSink): TreeBuilder => {
  const leaf = leafBuffer();
  const levels: BranchLevel[] = [];
  let lastKey: Uint8Array | undefined;

  const addToLevel = (depth: number, item: BranchItem): void => {
    levels[depth] ??= branchLevel(sink, (parent) => addToLevel(depth + 1, parent));
    levels[depth].add(item);
  };

  const writeLeaf = (): void => {
    const key = Uint8Array.from(leaf.firstKey);
    lastKey = Uint8Array.from(leaf.lastKey);
    addToLevel(0, { key, child: sink.write(leaf) });
    leaf.clear();
  };

  const finish = (): number => {
    if (levels.length === 0) return sink.write(leaf);
    if (leaf.count > 0) writeLeaf();
    // `levels` grows while lower ones are flushed; it ends with the level whose only page is the root.
    for (let depth = 0; ; depth += 1) {
      const level = levels[depth]!;
      const only = level.items[0];
      if (level.isSinglePage && level.items.length === 1 && only !== undefined) return only.child;
      level.flush();
    }
  };

  return {
    add(item) {
      assertFits(item);
      const previous = leaf.count > 0 ? leaf.lastKey : lastKey;
      if (previous !== undefined && compareBytes(previous, item.key) >= 0) {
        throw failure(
          'OutOfOrder',
          `key ${Buffer.from(item.key).toString('hex')} does not come after ${Buffer.from(previous).toString('hex')}`,
        );
      }
      if (leaf.count > 0 && !leaf.hasRoomFor(item)) writeLeaf();
      leaf.add(item);
    },
    finish,
    finishBucket() {
      if (levels.length === 0 && leaf.byteLength <= INLINE_BYTES_MAX) {
        const value = new Uint8Array(BUCKET_HEADER_BYTES + leaf.byteLength);
        leaf.encodeInto(value.subarray(BUCKET_HEADER_BYTES));
        return value;
      }
      const value = new Uint8Array(BUCKET_HEADER_BYTES);
      writeU64(value, 0, finish());
      return value;
    },
  };
};

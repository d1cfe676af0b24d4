import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DiskFile } from '../../../base/disk.ts';
import { failure } from '../failure.ts';
import { BUCKET_ELEMENT_FLAG, PAGE_BYTES, compareBytes } from './format.ts';
import {
  FIRST_TREE_PAGE,
  chunkSink,
  countingSink,
  encodeHead,
  type ChunkSink,
  type PageSink,
} from './page-sink.ts';
import { treeBuilder, type TreeBuilder } from './tree-builder.ts';

export interface BoltEntry {
  readonly bucket: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * Entries grouped by bucket (in any order of buckets), sorted by key within each. Keys and values need to stay
 * as they are only until the next entry is asked for.
 */
export type BoltSource = AsyncIterable<BoltEntry> | Iterable<BoltEntry>;

export interface BoltWriteOptions {
  /** Buckets that exist even when no entry is in them. */
  readonly buckets?: readonly string[];
  readonly chunkBytes?: number;
}

/** What the meta pages say of the rest of the file. */
export interface BoltPlan {
  readonly rootPage: number;
  readonly pageCount: number;
  readonly totalBytes: number;
}

const CHUNK_BYTES = 64 * 1024;
const BUCKETS_MAX = 4096;
/** A source that never waits (an open LMDB transaction) must not hold up heartbeats. */
const ENTRIES_PER_TURN = 512;

interface DatabaseBuilder {
  add(entry: BoltEntry): void;
  finish(): BoltPlan;
}

const databaseBuilder = (sink: PageSink, buckets: readonly string[]): DatabaseBuilder => {
  const finished = new Map<string, Uint8Array>();
  let current: { readonly name: string; readonly tree: TreeBuilder } | undefined;

  const finishCurrent = (): void => {
    if (current !== undefined) finished.set(current.name, current.tree.finishBucket());
  };

  const startBucket = (name: string) => {
    finishCurrent();
    if (finished.has(name))
      throw failure('OutOfOrder', `bucket ${name} comes a second time; group entries by bucket`);
    if (finished.size >= BUCKETS_MAX) throw failure('InvalidEntry', `more than ${BUCKETS_MAX} buckets`);
    current = { name, tree: treeBuilder(sink) };
    return current;
  };

  return {
    add({ bucket, key, value }) {
      const { tree } = current?.name === bucket ? current : startBucket(bucket);
      tree.add({ flags: 0, key, value });
    },
    finish() {
      finishCurrent();
      current = undefined;
      for (const name of buckets) {
        if (!finished.has(name)) finished.set(name, treeBuilder(sink).finishBucket());
      }
      const root = treeBuilder(sink);
      const named = [...finished].map(([name, value]) => ({ key: Buffer.from(name), value }));
      named.sort((a, b) => compareBytes(a.key, b.key));
      for (const { key, value } of named) root.add({ flags: BUCKET_ELEMENT_FLAG, key, value });
      const rootPage = root.finish();
      return { rootPage, pageCount: sink.nextPage, totalBytes: sink.nextPage * PAGE_BYTES };
    },
  };
};

/** Says after each entry whether it is time to let others have the event loop. */
const pacer = () => {
  let sinceTurn = 0;
  return (): boolean => {
    sinceTurn = (sinceTurn + 1) % ENTRIES_PER_TURN;
    return sinceTurn === 0;
  };
};

/** First pass: lays the file out without keeping it. Memory is a few pages, whatever the size of the source. */
export const planBolt = async (source: BoltSource, options: BoltWriteOptions = {}): Promise<BoltPlan> => {
  const builder = databaseBuilder(countingSink(), options.buckets ?? []);
  const isTurnOver = pacer();
  for await (const entry of source) {
    builder.add(entry);
    if (isTurnOver()) await nextTurn();
  }
  return builder.finish();
};

async function* treeChunks(
  source: BoltSource,
  options: BoltWriteOptions,
  sink: ChunkSink,
): AsyncGenerator<Uint8Array, BoltPlan> {
  const builder = databaseBuilder(sink, options.buckets ?? []);
  const isTurnOver = pacer();
  for await (const entry of source) {
    builder.add(entry);
    if (sink.hasChunks) yield* sink.takeChunks();
    if (isTurnOver()) await nextTurn();
  }
  const plan = builder.finish();
  yield* sink.takeRest();
  return plan;
}

/**
 * Second pass: the file in order, meta pages first, for sinks that cannot go back (a gRPC stream). The source has
 * to give exactly what `planBolt` saw, as two reads of one read transaction do; else it ends in SourceChanged.
 */
export async function* streamBolt(
  source: BoltSource,
  plan: BoltPlan,
  options: BoltWriteOptions = {},
): AsyncGenerator<Uint8Array> {
  const changed = () =>
    failure('SourceChanged', 'the entries differ from those the file was laid out for; start over');
  yield encodeHead(plan);
  const sink = chunkSink(options.chunkBytes ?? CHUNK_BYTES);
  const chunks = treeChunks(source, options, sink);
  let step = await chunks.next();
  while (!step.done) {
    // The meta pages are out already: more pages than they count must not follow them.
    if (sink.nextPage > plan.pageCount) {
      await chunks.return(plan);
      throw changed();
    }
    yield step.value;
    step = await chunks.next();
  }
  const { rootPage, pageCount } = step.value;
  if (rootPage !== plan.rootPage || pageCount !== plan.pageCount) {
    throw changed();
  }
}

/** One pass, for a sink that can go back: pages first, then the meta pages. Syncing is the caller's. */
export const writeBolt = async (
  source: BoltSource,
  file: Pick<DiskFile, 'write'>,
  options: BoltWriteOptions = {},
): Promise<BoltPlan> => {
  let offset = FIRST_TREE_PAGE * PAGE_BYTES;
  const chunks = treeChunks(source, options, chunkSink(options.chunkBytes ?? CHUNK_BYTES));
  let step = await chunks.next();
  while (!step.done) {
    await file.write(offset, [step.value]);
    offset += step.value.length;
    step = await chunks.next();
  }
  await file.write(0, [encodeHead(step.value)]);
  return step.value;
};

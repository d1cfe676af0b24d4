import { assert } from '../../../base/assert.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { keyString } from '../model.ts';
import { encodeUint64, readUint64 } from '../revision.ts';
import {
  META,
  type Backend,
  type BackendSize,
  type BackendSnapshot,
  type Bucket,
  type Entry,
} from './backend.ts';
import type { Engine, EngineReader } from './engine.ts';
import { mergeRange, Overlay } from './overlay.ts';

/** etcd's batch interval and batch limit. */
const COMMIT_INTERVAL_MS = 100;
const COMMIT_WRITES_MAX = 10_000;
/**
 * Fewer writes than this may wait longer: they are in the log, and each commit wakes threads and syncs the disk twice,
 * which delays the syncs of the log that clients wait for. Ten commits a second were the slowest puts of a single client.
 */
const COMMIT_SOON_WRITES = 1024;
const COMMIT_SOON_BYTES = 1024 * 1024;
const COMMIT_AT_REST_MS = 1000;
/**
 * What may wait for commits before appliers are asked to wait. Handing over a commit costs the event loop about
 * a microsecond a write, so the number is bounded as well.
 */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
const PENDING_WRITES_MAX = 50_000;
const ENTRIES_CHUNK = 512;

export interface BufferedBackendOptions {
  readonly clock: Clock;
  /** A failed commit cannot be undone in memory: anyone who owns the member stops it and starts it again. */
  readonly onCommitFailed: (error: unknown) => void;
  readonly onCommit?: (seconds: number, writes: number) => void;
  /** Exactly this; by default 100 ms, and a second for a few writes. */
  readonly commitIntervalMs?: number | undefined;
  /** Writes that may wait for a commit; 10,000 by default. */
  readonly commitWritesMax?: number | undefined;
  /** `--unsafe-no-fsync`: commits are not synced. */
  readonly isUnsafe?: boolean | undefined;
}

const readCounter = (reader: EngineReader, key: Buffer): number => {
  const value = reader.get('meta', key);
  return value === undefined ? 0 : readUint64(value, 0);
};

/**
 * Gathers writes in memory and hands them to the engine together with the consistent index, as one commit,
 * every 100 ms or 10,000 writes, and after a second when there are few. Reads look through the two layers in memory (what waits, and what is being
 * committed) to the engine.
 */
export class BufferedBackend implements Backend {
  readonly #engine: Engine;
  readonly #options: BufferedBackendOptions;
  #waiting = new Overlay();
  #committing: Overlay | undefined;
  readonly #snapshots = new Set<object>();
  #running: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #timerDelayMs = 0;
  #consistentIndex: number;
  #term: number;
  #isIndexMoved = false;
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;
  /** As of the last commit: quotas are checked on every write, and measuring asks each tree. */
  #size: BackendSize;

  constructor(engine: Engine, options: BufferedBackendOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#consistentIndex = readCounter(engine, META.consistentIndex);
    this.#term = readCounter(engine, META.term);
    this.#size = engine.size();
  }

  get consistentIndex(): number {
    return this.#consistentIndex;
  }
  get term(): number {
    return this.#term;
  }

  get(bucket: Bucket, key: Uint8Array): Buffer | undefined {
    if (this.#waiting.writeCount > 0 || this.#committing !== undefined) {
      const name = keyString(key);
      const write = this.#waiting.get(bucket, name) ?? this.#committing?.get(bucket, name);
      if (write !== undefined) return write.value;
    }
    return this.#engine.get(bucket, key);
  }

  range(bucket: Bucket, from: Uint8Array, to: Uint8Array | undefined, limit: number): Entry[] {
    const low = keyString(from);
    const high = to === undefined ? undefined : keyString(to);
    const committed = (start: Uint8Array, count: number): Entry[] =>
      this.#engine.range(bucket, start, to, count);
    const committing = this.#committing;
    const below =
      committing === undefined
        ? committed
        : (start: Uint8Array, count: number): Entry[] =>
            mergeRange(committed, committing.range(bucket, keyString(start), high), start, count);
    return mergeRange(below, this.#waiting.range(bucket, low, high), from, limit);
  }

  put(bucket: Bucket, key: Buffer, value: Buffer): void {
    this.#waiting.set(bucket, key, value);
    this.#written();
  }

  delete(bucket: Bucket, key: Buffer): void {
    this.#waiting.set(bucket, key, undefined);
    this.#written();
  }

  setConsistentIndex(index: number, term: number): void {
    this.#consistentIndex = index;
    this.#term = term;
    this.#isIndexMoved = true;
    if (this.#timer === undefined) this.#schedule();
  }

  async commit(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    this.#rethrow();
    if (this.#isIdle()) return;
    await this.#start();
    this.#rethrow();
  }

  whenWritable(): Promise<void> | undefined {
    const { byteCount, writeCount } = this.#waiting;
    if (byteCount < PENDING_BYTES_MAX && writeCount < PENDING_WRITES_MAX) return undefined;
    return this.commit();
  }

  async snapshot(): Promise<BackendSnapshot> {
    await this.commit();
    const view = this.#engine.snapshot();
    const id = {};
    this.#snapshots.add(id);
    return {
      consistentIndex: readCounter(view, META.consistentIndex),
      term: readCounter(view, META.term),
      size: this.#size,
      get: (bucket, key) => view.get(bucket, key),
      range: (bucket, from, to, limit) => view.range(bucket, from, to, limit),
      entries: (bucket) => entriesOf(view, bucket),
      dispose: () => {
        this.#snapshots.delete(id);
        view.dispose();
      },
    };
  }

  get openSnapshots(): number {
    return this.#snapshots.size;
  }

  async defragment(): Promise<void> {
    await this.commit();
    while (this.#running !== undefined) await this.#running;
    const defragmented = this.#engine.defragment().finally(() => {
      this.#running = undefined;
      this.#size = this.#engine.size();
      if (!this.#isIdle()) this.#schedule();
    });
    // Anyone who waits for the file must not fail for a defragmentation that did.
    this.#running = defragmented.catch(() => undefined);
    await defragmented;
  }

  size(): BackendSize {
    return this.#size;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.dispose();
    this.#timer = undefined;
    try {
      if (this.#failure === undefined) await this.commit();
    } finally {
      await this.#engine.close();
    }
  }

  #isIdle(): boolean {
    return this.#waiting.writeCount === 0 && !this.#isIndexMoved;
  }

  #rethrow(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #written(): void {
    if (this.#timer === undefined || this.#delayMs() < this.#timerDelayMs) this.#schedule();
  }

  /** Commits start from a timer only, never from a write: an entry half applied must not become durable. */
  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer?.dispose();
    this.#timerDelayMs = this.#delayMs();
    this.#timer = this.#options.clock.after(this.#timerDelayMs, () => {
      this.#timer = undefined;
      // A commit that is still running starts the timer again when it ends.
      if (this.#running === undefined && this.#failure === undefined && !this.#isIdle()) void this.#start();
    });
  }

  #delayMs(): number {
    const { writeCount, byteCount } = this.#waiting;
    if (writeCount >= (this.#options.commitWritesMax ?? COMMIT_WRITES_MAX)) return 0;
    const isFew = writeCount < COMMIT_SOON_WRITES && byteCount < COMMIT_SOON_BYTES;
    const usualMs = isFew ? COMMIT_AT_REST_MS : COMMIT_INTERVAL_MS;
    return this.#options.commitIntervalMs ?? usualMs;
  }

  /** Never rejects: the failure is kept and reported, and every later commit fails with it. */
  #start(): Promise<void> {
    assert(this.#running === undefined, 'one commit at a time');
    if (this.#isIndexMoved) {
      this.#waiting.set('meta', META.consistentIndex, encodeUint64(this.#consistentIndex));
      this.#waiting.set('meta', META.term, encodeUint64(this.#term));
      this.#isIndexMoved = false;
    }
    const overlay = this.#waiting;
    this.#committing = overlay;
    this.#waiting = new Overlay();
    const startedMs = this.#options.clock.monotonicMs();
    this.#running = this.#engine
      .commit(overlay.writes())
      .then(() => {
        this.#committing = undefined;
        this.#size = this.#engine.size();
        this.#options.onCommit?.((this.#options.clock.monotonicMs() - startedMs) / 1000, overlay.writeCount);
      })
      .catch((error: unknown) => {
        this.#failure = { error };
        this.#options.onCommitFailed(error);
      })
      .finally(() => {
        this.#running = undefined;
        if (this.#timer === undefined && !this.#isIdle() && this.#failure === undefined) this.#schedule();
      });
    return this.#running;
  }
}

export function* entriesOf(view: EngineReader, bucket: Bucket): Generator<Entry> {
  let from: Uint8Array = Buffer.of(0);
  for (;;) {
    const chunk = view.range(bucket, from, undefined, ENTRIES_CHUNK);
    yield* chunk;
    const last = chunk[chunk.length - 1];
    if (chunk.length < ENTRIES_CHUNK || last === undefined) return;
    from = Buffer.concat([last.key, Buffer.of(0)]);
  }
}

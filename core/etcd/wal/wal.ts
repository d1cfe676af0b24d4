import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disk, DiskFile } from '../../base/disk.ts';
import type { HardState, LogEntry, SnapshotMark } from '../../raft/types.ts';
import { WalError } from './errors.ts';
import { RecordWriter, type WalMetadata } from './record.ts';
import { listSegments, replayWal, type WalContents } from './replay.ts';
import { segmentFile, type SegmentName } from './segment.ts';

/** A segment that has reached this is closed and the next one begun. */
const SEGMENT_BYTES = 64 * 1024 * 1024;
/**
 * Files grow by this many zeros ahead of the records, so that a sync has only data to write. Small steps: the
 * zeros are flushed by the next sync, which a client waits for.
 */
const GROWTH_BYTES = 1024 * 1024;

export interface WalOptions {
  readonly disk: Disk;
  readonly directory: string;
  readonly clock: Clock;
  readonly segmentBytes?: number;
  readonly growthBytes?: number;
  /** How long each sync took, for `etcd_disk_wal_fsync_duration_seconds`. */
  readonly onSync?: (seconds: number) => void;
  readonly onWrite?: (bytes: number) => void;
}

export interface WalBatch {
  readonly hardState?: HardState | undefined;
  readonly entries?: readonly LogEntry[] | undefined;
  readonly snapshot?: SnapshotMark | undefined;
}

interface Waiting {
  readonly batch: WalBatch;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface OpenSegment {
  readonly name: SegmentName;
  readonly file: DiskFile;
}

/**
 * The durable Raft log. Batches given while a sync is in progress are written together and share the next one.
 * After a failed write or sync the log refuses all further work: what the disk then holds is unknown.
 */
export class Wal {
  readonly #options: WalOptions;
  readonly #metadata: WalMetadata;
  readonly #segments: SegmentName[];
  readonly #writer: RecordWriter;
  readonly #segmentBytes: number;
  #current: OpenSegment;
  #offset: number;
  #allocatedBytes: number;
  #hardState: HardState;
  #snapshotMark: SnapshotMark | undefined;
  #lastIndex: number;
  /** A commit index that moved alone waits here for the next batch: losing it loses nothing. */
  #isHardStateOwed = false;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;

  private constructor(
    options: WalOptions,
    state: {
      readonly contents: WalContents;
      readonly segments: SegmentName[];
      readonly current: OpenSegment;
      readonly offset: number;
      readonly allocatedBytes: number;
      readonly chain: number;
    },
  ) {
    const { contents } = state;
    this.#options = options;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#metadata = contents.metadata;
    this.#segments = state.segments;
    this.#current = state.current;
    this.#offset = state.offset;
    this.#allocatedBytes = state.allocatedBytes;
    this.#writer = new RecordWriter(state.chain);
    this.#hardState = contents.hardState;
    this.#snapshotMark = contents.snapshotMark;
    this.#lastIndex = contents.entries.at(-1)?.index ?? contents.snapshotMark?.index ?? 0;
  }

  static async exists(disk: Disk, directory: string): Promise<boolean> {
    return (await listSegments(disk, directory)).length > 0;
  }

  /** Makes the log of a new member. */
  static async create(options: WalOptions, metadata: WalMetadata): Promise<Wal> {
    const { disk, directory } = options;
    if (await Wal.exists(disk, directory))
      throw new WalError('Exists', `${directory} already holds a log; open it, or choose an empty folder`);
    await disk.makeDirectory(directory);
    const name = { sequence: 0, firstIndex: 0 };
    const writer = new RecordWriter(0);
    writer.chainStart();
    writer.metadata(metadata);
    const file = await makeSegment(options, name, writer.bytes());
    return new Wal(options, {
      contents: {
        metadata,
        hardState: { term: 0, vote: 0, commit: 0 },
        snapshotMark: undefined,
        entries: [],
      },
      segments: [name],
      current: { name, file },
      offset: writer.byteCount,
      allocatedBytes: writer.byteCount,
      chain: writer.chain,
    });
  }

  /** Reads the log of a member that ran before; a write cut short by a crash is removed. Throws WalError. */
  static async open(options: WalOptions): Promise<{ readonly wal: Wal; readonly contents: WalContents }> {
    const { disk, directory } = options;
    const { contents, segments, offset, chain, isTorn } = await replayWal(disk, directory);
    const name = segments.at(-1);
    assert(name !== undefined, 'a log that was read has a segment');
    const file = await disk.open(`${directory}/${segmentFile(name)}`, { create: false });
    if (isTorn) {
      // What follows must be zeros again, or a later torn write could not be told from the left-overs.
      await file.truncate(offset);
      await file.sync();
    }
    const allocatedBytes = await file.size();
    const wal = new Wal(options, {
      contents,
      segments,
      current: { name, file },
      offset,
      allocatedBytes,
      chain,
    });
    return { wal, contents };
  }

  /**
   * Resolves when the batch is durable, in the order of calls. A batch that only moves the commit index
   * resolves immediately and is written with the next one.
   */
  append(batch: WalBatch): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#refusal());
    if (this.#isClosed)
      return Promise.reject(new WalError('Closed', `the log in ${this.#options.directory} is closed`));
    if (!mustSync(batch, this.#hardState)) {
      if (batch.hardState !== undefined) {
        this.#hardState = batch.hardState;
        this.#isHardStateOwed = true;
      }
      return Promise.resolve();
    }
    if (batch.hardState !== undefined) {
      this.#hardState = batch.hardState;
      this.#isHardStateOwed = false;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /**
   * Removes the oldest segments that hold only entries before `index` while there are more than `keep`. Call it once a
   * snapshot mark at or after `index` is durable; what the mark stands for must be durable too.
   */
  async release(index: number, { keep = 1 }: { readonly keep?: number } = {}): Promise<void> {
    const { disk, directory } = this.#options;
    while (
      this.#segments.length > Math.max(1, keep) &&
      (this.#segments[1] as SegmentName).firstIndex <= index
    ) {
      const oldest = this.#segments.shift() as SegmentName;
      await disk.remove(`${directory}/${segmentFile(oldest)}`);
    }
    await disk.syncDirectory(directory);
  }

  get segmentCount(): number {
    return this.#segments.length;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#flushing;
    try {
      if (this.#isHardStateOwed && this.#failure === undefined) {
        this.#writer.reset();
        this.#writer.hardState(this.#hardState);
        await this.#write();
      }
    } finally {
      await this.#current.file.close();
    }
  }

  #refusal(): WalError {
    const text = `the log in ${this.#options.directory} failed before; restart the member to read back what is on disk`;
    return new WalError('Failed', text, { cause: this.#failure?.error });
  }

  /** Never rejects; each waiting batch is told. */
  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#failure !== undefined) throw this.#refusal();
        this.#encode(group);
        await this.#write();
        if (this.#offset >= this.#segmentBytes) await this.#cut();
      } catch (error) {
        this.#failure ??= { error };
        for (const { reject } of group) reject(error);
        continue;
      }
      for (const { resolve } of group) resolve();
    }
    this.#flushing = undefined;
  }

  #encode(group: readonly Waiting[]): void {
    this.#writer.reset();
    for (const { batch } of group) {
      for (const entry of batch.entries ?? []) {
        this.#writer.entry(entry);
        this.#lastIndex = entry.index;
      }
      if (batch.snapshot !== undefined) {
        this.#writer.snapshot(batch.snapshot);
        this.#snapshotMark = batch.snapshot;
        this.#lastIndex = Math.max(this.#lastIndex, batch.snapshot.index);
      }
      if (batch.hardState !== undefined) this.#writer.hardState(batch.hardState);
    }
    if (this.#isHardStateOwed) {
      this.#isHardStateOwed = false;
      this.#writer.hardState(this.#hardState);
    }
  }

  async #write(): Promise<void> {
    const { file } = this.#current;
    const bytes = this.#writer.bytes();
    const end = this.#offset + bytes.byteLength;
    if (end > this.#allocatedBytes) {
      const wanted = end + (this.#options.growthBytes ?? GROWTH_BYTES);
      await file.allocate(wanted);
      this.#allocatedBytes = wanted;
    }
    const startedMs = this.#options.clock.monotonicMs();
    await file.writeDurably(this.#offset, [bytes]);
    this.#options.onSync?.((this.#options.clock.monotonicMs() - startedMs) / 1000);
    this.#options.onWrite?.(bytes.byteLength);
    this.#offset = end;
  }

  /** Each segment repeats what is needed when the ones before it are gone. */
  async #cut(): Promise<void> {
    const name = { sequence: this.#current.name.sequence + 1, firstIndex: this.#lastIndex + 1 };
    await this.#current.file.truncate(this.#offset);
    await this.#current.file.sync();
    this.#writer.reset();
    this.#writer.chainStart();
    this.#writer.metadata(this.#metadata);
    if (this.#snapshotMark !== undefined) this.#writer.snapshot(this.#snapshotMark);
    this.#writer.hardState(this.#hardState);
    const bytes = this.#writer.bytes();
    const file = await makeSegment(this.#options, name, bytes);
    await this.#current.file.close();
    this.#segments.push(name);
    this.#current = { name, file };
    this.#offset = bytes.byteLength;
    this.#allocatedBytes = bytes.byteLength;
  }
}

/** As etcd's MustSync: entries, a vote or a term must be durable before anyone is told; a commit index need not. */
const mustSync = (batch: WalBatch, before: HardState): boolean =>
  (batch.entries !== undefined && batch.entries.length > 0) ||
  batch.snapshot !== undefined ||
  (batch.hardState !== undefined &&
    (batch.hardState.term !== before.term || batch.hardState.vote !== before.vote));

/** A segment appears under its name only when its beginning is durable. */
const makeSegment = async (
  { disk, directory }: WalOptions,
  name: SegmentName,
  beginning: Uint8Array,
): Promise<DiskFile> => {
  const temporary = `${directory}/segment.tmp`;
  await disk.remove(temporary);
  const made = await disk.open(temporary, { create: true });
  await made.writeDurably(0, [beginning]);
  await made.close();
  const path = `${directory}/${segmentFile(name)}`;
  await disk.rename(temporary, path);
  await disk.syncDirectory(directory);
  return disk.open(path, { create: false });
};

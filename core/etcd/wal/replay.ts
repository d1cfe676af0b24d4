import type { Disk } from '../../base/disk.ts';
import type { HardState, LogEntry, SnapshotMark } from '../../raft/types.ts';
import { corrupt, missing } from './errors.ts';
import {
  decodeEntry,
  decodeHardState,
  decodeMetadata,
  decodeSnapshot,
  isZero,
  readRecord,
  RECORD,
  type ReadRecord,
  type WalMetadata,
} from './record.ts';
import { parseSegmentFile, segmentFile, type SegmentName } from './segment.ts';

/** What a member knew before it stopped. */
export interface WalContents {
  readonly metadata: WalMetadata;
  readonly hardState: HardState;
  readonly snapshotMark: SnapshotMark | undefined;
  /** Those after the snapshot mark, without gaps. */
  readonly entries: LogEntry[];
}

export interface Replayed {
  readonly contents: WalContents;
  readonly segments: SegmentName[];
  /** Where the next record goes in the last segment, and the checksum it continues from. */
  readonly offset: number;
  readonly chain: number;
  /** Whether bytes of a write that was never synced lie behind `offset`. */
  readonly isTorn: boolean;
}

class Replay {
  metadata: WalMetadata | undefined;
  hardState: HardState = { term: 0, vote: 0, commit: 0 };
  snapshotMark: SnapshotMark | undefined;
  entries: LogEntry[] = [];
  chain = 0;

  /** An error text, or undefined. */
  take(record: ReadRecord & { status: 'whole' }): string | undefined {
    switch (record.type) {
      case RECORD.chain:
        return undefined;
      case RECORD.metadata:
        return this.#takeMetadata(decodeMetadata(record.payload));
      case RECORD.entry:
        return this.#takeEntry(decodeEntry(record.payload));
      case RECORD.hardState:
        this.hardState = decodeHardState(record.payload);
        return undefined;
      case RECORD.snapshot:
        this.#takeSnapshot(decodeSnapshot(record.payload));
        return undefined;
      default:
        return `a record of the unknown type ${record.type}`;
    }
  }

  #takeMetadata(metadata: WalMetadata): string | undefined {
    const known = this.metadata;
    this.metadata = metadata;
    const isSame = known?.memberId === metadata.memberId && known.clusterId === metadata.clusterId;
    return known === undefined || isSame ? undefined : 'the identity of another member';
  }

  /** A later entry with an earlier index replaces everything from there on: a leader overruled the tail. */
  #takeEntry(entry: LogEntry): string | undefined {
    const base = this.snapshotMark?.index ?? 0;
    if (entry.index <= base) return undefined;
    // Whether the first one follows its mark is known at the end: a later mark may cover released entries.
    const first = this.entries[0]?.index ?? entry.index;
    const position = entry.index - first;
    if (position > this.entries.length) return `a gap before entry ${entry.index}`;
    if (position < 0) this.entries = [];
    else this.entries.length = position;
    this.entries.push(entry);
    return undefined;
  }

  /** Entries that continue after the mark stay; a log that ends before it, or disagrees with it, is void. */
  #takeSnapshot(mark: SnapshotMark): void {
    const first = this.entries[0]?.index ?? mark.index + 1;
    const at = this.entries[mark.index - first];
    const isContinued =
      mark.index === (this.snapshotMark?.index ?? -1) || mark.index < first || at?.term === mark.term;
    this.snapshotMark = mark;
    this.entries = isContinued ? this.entries.filter((entry) => entry.index > mark.index) : [];
  }
}

const readFile = async (disk: Disk, path: string): Promise<Buffer> => {
  const file = await disk.open(path, { create: false });
  try {
    const bytes = await file.read(0, await file.size());
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } finally {
    await file.close();
  }
};

/** Segments of the folder, oldest first; what other files are there is not ours. */
export const listSegments = async (disk: Disk, directory: string): Promise<SegmentName[]> =>
  (await disk.list(directory)).flatMap((file) => parseSegmentFile(file) ?? []);

/**
 * Reads the whole log. Only the last segment may end in a write that was cut short; the chain of checksums makes
 * everything else (a changed byte, a lost segment, a segment of another log) an error.
 */
export const replayWal = async (disk: Disk, directory: string): Promise<Replayed> => {
  const segments = await listSegments(disk, directory);
  if (segments.length === 0) throw missing(directory, 'no log segment found');
  const replay = new Replay();
  let offset = 0;
  let isTorn = false;
  for (const [i, segment] of segments.entries()) {
    const path = `${directory}/${segmentFile(segment)}`;
    const before = segments[i - 1];
    if (before !== undefined && before.sequence + 1 !== segment.sequence)
      throw missing(directory, `segment ${before.sequence + 1} is missing`);
    const bytes = await readFile(disk, path);
    const isLast = i === segments.length - 1;
    const end = readSegment(replay, bytes, { path, isFirst: i === 0, isLast });
    offset = end.offset;
    isTorn = end.isTorn;
  }
  if (replay.metadata === undefined) throw missing(directory, 'no segment names its member');
  const { metadata, hardState, snapshotMark } = replay;
  const after = snapshotMark?.index ?? 0;
  const first = replay.entries[0]?.index ?? after + 1;
  if (first !== after + 1) throw missing(directory, `entries ${after + 1} to ${first - 1} are missing`);
  // Copies: a view would keep the whole segment in memory as long as one of its entries is.
  const entries = replay.entries.map((entry) => ({
    ...entry,
    data: Uint8Array.prototype.slice.call(entry.data),
  }));
  return {
    contents: { metadata, hardState, snapshotMark, entries },
    segments,
    offset,
    chain: replay.chain,
    isTorn,
  };
};

const readSegment = (
  replay: Replay,
  bytes: Buffer,
  where: { readonly path: string; readonly isFirst: boolean; readonly isLast: boolean },
): { offset: number; isTorn: boolean } => {
  let offset = 0;
  // The first segment left may continue from one that was released: its opening record says from where.
  if (bytes.byteLength >= 20 && where.isFirst) replay.chain = bytes.readUInt32LE(16);
  for (;;) {
    const record = readRecord(bytes, offset, replay.chain);
    if (record.status === 'end' || (record.status === 'torn' && where.isLast)) {
      const isDirty = record.status === 'torn' || !isZero(bytes, offset, bytes.byteLength);
      if (offset === 0) throw corrupt({ path: where.path, offset }, 'a segment without a beginning');
      return { offset, isTorn: isDirty };
    }
    if (record.status !== 'whole')
      throw corrupt({ path: where.path, offset }, 'a record does not match its checksum');
    if (offset === 0 && (record.type !== RECORD.chain || record.payload.readUInt32LE(0) !== replay.chain))
      throw corrupt({ path: where.path, offset }, 'a segment that does not continue the one before it');
    const problem = replay.take(record);
    if (problem !== undefined) throw corrupt({ path: where.path, offset }, problem);
    replay.chain = record.chain;
    offset = record.next;
  }
};

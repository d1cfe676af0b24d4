import {
  decodeEntry,
  decodeHardState,
  decodeMetadata,
  decodeSnapshot,
  readRecord,
  RECORD,
  RecordWriter,
} from '../../../core/etcd/wal/record.ts';
import { listSegments } from '../../../core/etcd/wal/replay.ts';
import { segmentFile } from '../../../core/etcd/wal/segment.ts';
import type { SimDisk } from '../../support/sim-disk.ts';
import type { Mutant } from './mutant.ts';

/** Where the first record of a segment names the checksum it continues from. */
const CHAIN_OFFSET = 16;

/** Rewrites the log, record by record, as if its hard states had never named a vote. */
const forgetVotes = async (disk: SimDisk, directory: string): Promise<void> => {
  let writer: RecordWriter | undefined;
  let chain = 0;
  for (const segment of await listSegments(disk, directory)) {
    const path = `${directory}/${segmentFile(segment)}`;
    const bytes = disk.contents(path);
    if (writer === undefined) {
      chain = bytes.readUInt32LE(CHAIN_OFFSET);
      writer = new RecordWriter(chain);
    }
    writer.reset();
    for (let at = 0; ;) {
      const record = readRecord(bytes, at, chain);
      if (record.status !== 'whole') break;
      if (record.type === RECORD.chain) writer.chainStart();
      else if (record.type === RECORD.metadata) writer.metadata(decodeMetadata(record.payload));
      else if (record.type === RECORD.entry) writer.entry(decodeEntry(record.payload));
      else if (record.type === RECORD.snapshot) writer.snapshot(decodeSnapshot(record.payload));
      else writer.hardState({ ...decodeHardState(record.payload), vote: 0 });
      chain = record.chain;
      at = record.next;
    }
    const rewritten = Buffer.from(writer.bytes());
    disk.replace(path, Buffer.concat([rewritten, bytes.subarray(rewritten.byteLength)]));
  }
};

export const forgottenVote: Mutant = {
  name: 'a vote is not on disk when it is given',
  foundBy: ['election safety', 'log matching', 'same state'],
  beforeStart: forgetVotes,
};

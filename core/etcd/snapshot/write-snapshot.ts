import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { nodeDisk } from '../../base/node/disk.ts';
import { planBolt, streamBolt, type BoltSource, type BoltWriteOptions } from './bolt/writer.ts';
import { ETCD_BUCKETS } from './schema.ts';

/**
 * Opens the entries from their beginning, each time the same: two iterations of one read transaction. It is
 * called twice, because the meta pages at the head of the file name the root page at its end.
 */
export type SnapshotSource = () => BoltSource;

export interface SnapshotStream {
  /** Size of the database without the trailer: what `remaining_bytes` of Maintenance.Snapshot counts down from. */
  readonly totalBytes: number;
  /** The database in order; the last chunk is the sha256 trailer alone. */
  readonly chunks: AsyncGenerator<Uint8Array>;
}

export type SnapshotWriteOptions = Pick<BoltWriteOptions, 'chunkBytes'>;

/**
 * A snapshot as a stream, with no temporary file and a few pages of memory: the first pass counts pages, the
 * second writes them. All of etcd's buckets are in it, for etcdutl reads `meta` without asking if it exists.
 */
export const streamSnapshot = async (
  source: SnapshotSource,
  options: SnapshotWriteOptions = {},
): Promise<SnapshotStream> => {
  const bolt: BoltWriteOptions = { ...options, buckets: ETCD_BUCKETS };
  const plan = await planBolt(source(), bolt);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    for await (const chunk of streamBolt(source(), plan, bolt)) {
      hash.update(chunk);
      yield chunk;
    }
    yield hash.digest();
  }
  return { totalBytes: plan.totalBytes, chunks: chunks() };
};

/** Takes the chunks of a file in order; the next one comes when the promise has resolved. */
export type SnapshotSink = (chunk: Uint8Array) => void | Promise<void>;

/** Resolves with the size of the whole snapshot. */
export const writeSnapshot = async (
  source: SnapshotSource,
  sink: SnapshotSink,
  options: SnapshotWriteOptions = {},
): Promise<number> => {
  const { chunks } = await streamSnapshot(source, options);
  let written = 0;
  for await (const chunk of chunks) {
    await sink(chunk);
    written += chunk.length;
  }
  return written;
};

/** Writes a file that is either whole and durable under `path`, or not there: as etcdctl, by way of `.part`. */
export const saveSnapshot = async (path: string, source: SnapshotSource): Promise<number> => {
  const part = `${path}.part`;
  await nodeDisk.remove(part);
  const file = await nodeDisk.open(part, { create: true });
  try {
    let offset = 0;
    await writeSnapshot(source, async (chunk) => {
      await file.write(offset, [chunk]);
      offset += chunk.length;
    });
    await file.sync();
    await file.close();
    await nodeDisk.rename(part, path);
    await nodeDisk.syncDirectory(dirname(path));
    return offset;
  } catch (error) {
    await file.close();
    await nodeDisk.remove(part);
    throw error;
  }
};

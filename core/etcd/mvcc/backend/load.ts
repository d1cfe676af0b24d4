import { META, type Backend, type Bucket } from './backend.ts';

const LOAD_WRITES_MAX = 5_000;

export interface LoadedEntry {
  readonly bucket: Bucket;
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * Fills an empty backend from a stream, committing in bounded batches. The consistent index comes last: a load
 * that was interrupted leaves an index of zero, which tells the caller to throw the backend away.
 */
export const loadBackend = async (
  backend: Backend,
  source: AsyncIterable<LoadedEntry> | Iterable<LoadedEntry>,
  mark: { readonly consistentIndex: number; readonly term: number },
): Promise<number> => {
  let count = 0;
  for await (const { bucket, key, value } of source) {
    if (bucket === 'meta' && (key.equals(META.consistentIndex) || key.equals(META.term))) continue;
    backend.put(bucket, key, value);
    count += 1;
    if (count % LOAD_WRITES_MAX === 0) await backend.commit();
  }
  backend.setConsistentIndex(mark.consistentIndex, mark.term);
  await backend.commit();
  return count;
};

import { META, type Backend } from './backend/backend.ts';
import type { KeyIndex } from './key-index.ts';
import { KeyValue, NO_LEASE, storedKey } from './key-value.ts';
import type { LeaseBook } from './leases.ts';
import { keyString, type KeyString } from './model.ts';
import { decodeRevision, encodeRevision, isTombstone, readUint64 } from './revision.ts';

const RESTORE_CHUNK = 2_000;

export interface Restored {
  readonly revision: number;
  readonly compactRevision: number;
  readonly scheduledCompact: number;
}

/** Compact marks are stored as revisions; their main part comes first. */
const readMark = (backend: Backend, key: Buffer): number | undefined => {
  const value = backend.get('meta', key);
  return value === undefined ? undefined : readUint64(value, 0);
};

/** Reads every revision once, oldest first, into an empty index. */
export const restoreIndex = async (
  backend: Backend,
  index: KeyIndex,
  leases: LeaseBook,
  pause: () => Promise<void>,
): Promise<Restored> => {
  const compactRevision = readMark(backend, META.finishedCompact) ?? -1;
  const scheduledCompact = readMark(backend, META.scheduledCompact) ?? -1;
  const leaseOf = new Map<KeyString, bigint>();
  let from = encodeRevision(1, 0);
  let newest = 1;
  for (;;) {
    const chunk = backend.range('key', from, undefined, RESTORE_CHUNK);
    for (const { key, value } of chunk) {
      const { main, sub } = decodeRevision(key);
      newest = main;
      const name = keyString(storedKey(value));
      const revisions = index.restoring(name);
      if (isTombstone(key)) {
        if (revisions.live || revisions.isEmpty) revisions.tombstone(main, sub);
        leaseOf.delete(name);
        continue;
      }
      const kv = new KeyValue(value);
      if (revisions.isEmpty) revisions.restore(main, sub, kv.createRevision, kv.version);
      else revisions.put(main, sub);
      if (kv.lease !== NO_LEASE) leaseOf.set(name, kv.lease);
      else leaseOf.delete(name);
    }
    const last = chunk[chunk.length - 1];
    if (chunk.length < RESTORE_CHUNK || last === undefined) break;
    from = Buffer.concat([last.key, Buffer.of(0)]);
    await pause();
  }
  index.restored();
  for (const [key, lease] of leaseOf) leases.attach(lease, key);
  return {
    // Compaction may have removed the newest revisions (deletions): the marks then know better.
    revision: Math.max(newest, compactRevision, scheduledCompact),
    compactRevision,
    scheduledCompact,
  };
};

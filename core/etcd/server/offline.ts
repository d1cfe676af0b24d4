import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ReasonError } from '../../base/errors.ts';
import { systemClock } from '../../base/node/clock.ts';
import { lockDirectory } from '../../base/node/directory-lock.ts';
import { loadBackend, type LoadedEntry } from '../mvcc/backend/load.ts';
import { MemoryDatabase } from '../mvcc/backend/memory-engine.ts';
import { Store } from '../mvcc/store.ts';
import { isBucket } from '../mvcc/backend/backend.ts';
import { readSnapshot, type Snapshot } from '../snapshot/index.ts';
import { lmdbHouse } from './lmdb-house.ts';

/** Rewrites the database of a member that does not run, without its free space. */
export const defragmentOffline = async (
  dataDirectory: string,
): Promise<{ readonly beforeBytes: number; readonly afterBytes: number }> => {
  const memberDirectory = join(dataDirectory, 'member');
  if (!existsSync(memberDirectory))
    throw new ReasonError('NoData', `data-dir "${dataDirectory}" holds no member`);
  const lock = await lockDirectory(dataDirectory);
  try {
    const failures: unknown[] = [];
    const backend = await lmdbHouse(memberDirectory, {
      clock: systemClock,
      onCommitFailed: (error) => failures.push(error),
    }).open();
    try {
      const beforeBytes = backend.size().totalBytes;
      await backend.defragment();
      if (failures.length > 0) throw failures[0];
      return { beforeBytes, afterBytes: backend.size().totalBytes };
    } finally {
      await backend.close();
    }
  } finally {
    lock.dispose();
  }
};

async function* rowsOf(snapshot: Snapshot): AsyncGenerator<LoadedEntry> {
  for (const bucket of await snapshot.buckets()) {
    if (bucket !== 'key' && bucket !== 'meta') continue;
    for await (const { key, value } of snapshot.entries(bucket))
      if (isBucket(bucket)) yield { bucket, key, value };
  }
}

/** What HashKV of a member with the state of a snapshot file would answer. All of its keys are held in memory. */
export const hashKvOfSnapshot = async (
  path: string,
  revision: number,
): Promise<{ readonly hash: number; readonly hashRevision: number; readonly compactRevision: number }> => {
  const snapshot = await readSnapshot(path);
  const backend = new MemoryDatabase().open({ clock: systemClock });
  try {
    await loadBackend(backend, rowsOf(snapshot), { consistentIndex: 1, term: 1 });
    const store = await Store.open({ backend, clock: systemClock });
    const { hash, revision: hashRevision, compactRevision } = await store.hashKv(revision);
    store.close();
    return { hash, hashRevision, compactRevision };
  } finally {
    await backend.close();
    await snapshot.close();
  }
};

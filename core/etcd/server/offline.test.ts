import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { lockDirectory } from '../../base/node/directory-lock.ts';
import { BUCKETS, type Backend } from '../mvcc/backend/backend.ts';
import { Store } from '../mvcc/store.ts';
import { saveSnapshot } from '../snapshot/index.ts';
import { lmdbHouse } from './lmdb-house.ts';
import { defragmentOffline, hashKvOfSnapshot } from './offline.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-offline-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const open = (name: string): Promise<Backend> =>
  lmdbHouse(join(directory, name, 'member'), {
    clock: systemClock,
    onCommitFailed(error) {
      throw error;
    },
  }).open();

const key = (n: number): Buffer => Buffer.from(`k${n % 40}`);

/** Some keys with history, some of it compacted. */
const filled = async (backend: Backend): Promise<Store> => {
  const store = await Store.open({ backend, clock: systemClock });
  for (let n = 0; n < 400; n += 1) store.put({ key: key(n), value: Buffer.alloc(500, n) });
  store.deleteRange({ key: key(7) });
  await store.compact(200).done;
  return store;
};

test('the hash of a snapshot file is that of the member it was taken from', async () => {
  const backend = await open('hashed');
  const store = await filled(backend);
  const file = join(directory, 'saved.db');
  const snapshot = await backend.snapshot();
  await saveSnapshot(file, function* () {
    for (const bucket of BUCKETS)
      for (const { key: name, value } of snapshot.entries(bucket)) yield { bucket, key: name, value };
  });
  snapshot.dispose();
  for (const revision of [0, 300]) {
    const { hash, revision: hashRevision, compactRevision } = await store.hashKv(revision);
    expect(await hashKvOfSnapshot(file, revision)).toEqual({ hash, hashRevision, compactRevision });
  }
  await expect(hashKvOfSnapshot(file, 10)).rejects.toThrow('compacted');
  store.close();
  await backend.close();
});

test('a member that does not run gives back its free space and keeps its keys', async () => {
  const before = await open('idle');
  const store = await filled(before);
  const { hash } = await store.hashKv(0);
  store.close();
  await before.close();
  const { beforeBytes, afterBytes } = await defragmentOffline(join(directory, 'idle'));
  expect(afterBytes).toBeLessThan(beforeBytes);
  const after = await open('idle');
  expect((await (await Store.open({ backend: after, clock: systemClock })).hashKv(0)).hash).toBe(hash);
  await after.close();
});

test('a member that runs, or is not there, is left alone', async () => {
  await expect(defragmentOffline(join(directory, 'none'))).rejects.toThrow('holds no member');
  const lock = await lockDirectory(join(directory, 'idle'));
  await expect(defragmentOffline(join(directory, 'idle'))).rejects.toThrow();
  lock.dispose();
});

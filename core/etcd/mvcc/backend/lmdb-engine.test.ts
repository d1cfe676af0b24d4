import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../base/node/clock.ts';
import { Store } from '../store.ts';
import type { Backend } from './backend.ts';
import { loadBackend } from './load.ts';
import { openLmdbBackend } from './lmdb-engine.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lmdb-engine-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const bytes = (text: string): Buffer => Buffer.from(text);
const failures: unknown[] = [];
const open = (folder = directory): Promise<Backend> =>
  openLmdbBackend(folder, { clock: systemClock, onCommitFailed: (error) => failures.push(error) });
const pairs = (backend: Pick<Backend, 'range'>): [string, string][] =>
  backend
    .range('lease', bytes('a'), undefined, 100)
    .map(({ key, value }) => [key.toString(), value.toString()]);

test('reads see writes before, during and after their commit', async () => {
  const backend = await open();
  backend.put('lease', bytes('b'), bytes('1'));
  backend.put('lease', bytes('a'), bytes(''));
  expect(pairs(backend)).toEqual([
    ['a', ''],
    ['b', '1'],
  ]);
  const committing = backend.commit();
  backend.put('lease', bytes('c'), bytes('3'));
  backend.delete('lease', bytes('b'));
  expect(pairs(backend)).toEqual([
    ['a', ''],
    ['c', '3'],
  ]);
  expect(backend.get('lease', bytes('b'))).toBeUndefined();
  await committing;
  expect(pairs(backend)).toEqual([
    ['a', ''],
    ['c', '3'],
  ]);
  await backend.commit();
  expect(pairs(backend)).toEqual([
    ['a', ''],
    ['c', '3'],
  ]);
  expect(backend.get('lease', bytes('a'))?.byteLength).toBe(0);
  await backend.close();
});

test('a range from the empty key on starts with the first entry', async () => {
  const backend = await open();
  backend.put('lease', bytes('a'), bytes('1'));
  await backend.commit();
  backend.put('lease', bytes('b'), bytes('2'));
  const found = backend.range('lease', Buffer.alloc(0), undefined, 10);
  expect(found.map(({ key }) => key.toString())).toEqual(['a', 'b']);
  await backend.close();
});

test('values of every size come back whole and stay so while others are read', async () => {
  const backend = await open();
  const sizes = [0, 1, 3000, 70_000, 1_500_000, 2_000_000, 10];
  const valueOf = (i: number): Buffer => Buffer.alloc(sizes[i] as number, i + 1);
  sizes.forEach((_, i) => backend.put('key', bytes(`k${i}`), valueOf(i)));
  await backend.commit();
  const single = sizes.map((_, i) => backend.get('key', bytes(`k${i}`)));
  const ranged = backend.range('key', bytes('k'), undefined, 100).map(({ value }) => value);
  const snapshot = await backend.snapshot();
  const streamed = [...snapshot.entries('key')].map(({ value }) => value);
  snapshot.dispose();
  for (const found of [single, ranged, streamed])
    expect(found.map((value, i) => value?.equals(valueOf(i)))).toEqual(sizes.map(() => true));
  await backend.close();
});

test('a backend that was closed has everything and its consistent index when opened again', async () => {
  const backend = await open();
  backend.put('lease', bytes('a'), bytes('1'));
  backend.setConsistentIndex(2 ** 40, 3);
  await backend.close();
  const again = await open();
  expect([pairs(again), again.consistentIndex, again.term]).toEqual([[['a', '1']], 2 ** 40, 3]);
  await again.close();
});

test('a snapshot does not change under later writes, and loads into another backend', async () => {
  const backend = await open();
  for (let i = 0; i < 1500; i += 1)
    backend.put('key', bytes(`k${String(i).padStart(5, '0')}`), bytes(`v${i}`));
  backend.put('lease', bytes('a'), bytes('1'));
  backend.setConsistentIndex(9, 2);
  const snapshot = await backend.snapshot();
  backend.delete('lease', bytes('a'));
  await backend.commit();
  expect([snapshot.consistentIndex, pairs(snapshot), [...snapshot.entries('key')].length]).toEqual([
    9,
    [['a', '1']],
    1500,
  ]);
  const other = await open(join(directory, 'other'));
  const source = (['key', 'lease'] as const).flatMap((bucket) =>
    [...snapshot.entries(bucket)].map((entry) => ({ bucket, ...entry })),
  );
  await loadBackend(other, source, { consistentIndex: 9, term: 2 });
  expect([
    pairs(other),
    other.range('key', bytes('k'), undefined, 9999).length,
    other.consistentIndex,
  ]).toEqual([[['a', '1']], 1500, 9]);
  snapshot.dispose();
  await other.close();
  await backend.close();
});

test('defragmentation frees space and loses nothing, not even concurrent writes', async () => {
  const backend = await open();
  const value = Buffer.alloc(4000, 1);
  for (let i = 0; i < 2000; i += 1) backend.put('key', bytes(`k${i}`), value);
  await backend.commit();
  for (let i = 1; i < 2000; i += 1) backend.delete('key', bytes(`k${i}`));
  await backend.commit();
  const before = backend.size();
  expect(before.inUseBytes).toBeLessThan(before.totalBytes / 10);
  const running = backend.defragment();
  backend.put('lease', bytes('a'), bytes('meanwhile'));
  await running;
  backend.put('lease', bytes('b'), bytes('after'));
  await backend.commit();
  expect(backend.size().totalBytes).toBeLessThan(before.totalBytes / 10);
  expect(pairs(backend)).toEqual([
    ['a', 'meanwhile'],
    ['b', 'after'],
  ]);
  await backend.close();
  const again = await open();
  expect([pairs(again), again.get('key', bytes('k0'))?.byteLength]).toEqual([
    [
      ['a', 'meanwhile'],
      ['b', 'after'],
    ],
    4000,
  ]);
  expect((await readdir(directory)).filter((name) => name.endsWith('.lmdb'))).toEqual(['db.2.lmdb']);
  await again.close();
});

test('a store on it survives a restart with history, compaction and hash', async () => {
  const backend = await open();
  const store = await Store.open({ backend, clock: systemClock });
  for (let i = 0; i < 3000; i += 1) store.put({ key: bytes(`k${i % 100}`), value: bytes(`v${i}`) });
  store.deleteRange({ key: bytes('k1'), rangeEnd: bytes('k2') });
  await store.compact(2500).done;
  const hash = await store.hashKv(0);
  await backend.close();
  const reopened = await open();
  const again = await Store.open({ backend: reopened, clock: systemClock });
  expect(again.revision).toBe(store.revision);
  expect(again.compactRevision).toBe(2500);
  expect(again.range({ key: bytes('k5'), rangeEnd: bytes('k6') }).count).toBe(11);
  expect(await again.hashKv(0)).toEqual(hash);
  again.close();
  await reopened.close();
  expect(failures).toEqual([]);
});

const modes = async (): Promise<string[]> => {
  const names = ['', ...(await readdir(directory)).sort()];
  return Promise.all(
    names.map(async (name) => `${name} ${((await stat(join(directory, name))).mode & 0o777).toString(8)}`),
  );
};

test.skipIf(process.platform === 'win32')(
  'only its owner may read the files, also those that others could read before',
  async () => {
    let backend = await open();
    backend.put('lease', bytes('a'), bytes('1'));
    await backend.commit();
    const own = [' 700', 'db.1.lmdb 600', 'db.1.lmdb-lock 600'];
    expect(await modes()).toEqual(own);
    await backend.close();
    for (const name of await readdir(directory)) await chmod(join(directory, name), 0o664);
    await chmod(directory, 0o755);
    backend = await open();
    expect(await modes()).toEqual(own);
    await backend.defragment();
    expect(await modes()).toEqual([' 700', 'db.2.lmdb 600', 'db.2.lmdb-lock 600']);
    await backend.close();
  },
);

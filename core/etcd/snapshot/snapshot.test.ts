import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { crc32c } from '../../base/crc32c.ts';
import { collect, entry } from './bolt/testing.ts';
import type { BoltEntry } from './bolt/writer.ts';
import {
  ETCD_BUCKETS,
  encodeRevisionKey,
  memoryFile,
  openSnapshot,
  readSnapshot,
  saveSnapshot,
  streamSnapshot,
  verifySnapshot,
  writeSnapshot,
} from './index.ts';

const revision = (main: number, name: string, isTombstone = false): BoltEntry => ({
  bucket: 'key',
  key: isTombstone
    ? Buffer.concat([encodeRevisionKey({ main, sub: 0 }), Buffer.from('t')])
    : encodeRevisionKey({ main, sub: 0 }),
  value: Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]),
});

const entries = [
  entry('cluster', 'clusterVersion', '3.6.0'),
  revision(2, 'a'),
  revision(3, 'b'),
  revision(4, 'a'),
  revision(5, 'b', true),
  entry('meta', 'storageVersion', '3.6.0'),
];

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'snapshot-'));
  path = join(directory, 'backup.db');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('the status says what etcdutl would', async () => {
  const bytes = await saveSnapshot(path, () => entries);
  let hash = 0;
  for (const bucket of ETCD_BUCKETS) {
    hash = crc32c(hash, Buffer.from(bucket));
    for (const row of entries.filter((one) => one.bucket === bucket))
      hash = crc32c(crc32c(hash, row.key), row.value);
  }
  expect(await verifySnapshot(path)).toEqual({
    hash,
    revision: 5,
    totalKey: 1,
    totalEntries: 6,
    totalSize: bytes - 32,
    version: '3.6.0',
  });
});

test('a snapshot has all buckets of etcd, empty or not', async () => {
  await saveSnapshot(path, () => []);
  const snapshot = await readSnapshot(path);
  expect(await snapshot.buckets()).toEqual([...ETCD_BUCKETS]);
  await snapshot.close();
});

test('everything comes back out in the order a writer takes it', async () => {
  await saveSnapshot(path, () => entries);
  const snapshot = await readSnapshot(path);
  const again = join(directory, 'again.db');
  await saveSnapshot(again, () => snapshot.all());
  expect((await collect(snapshot.all())).map(({ bucket }) => bucket)).toEqual(
    entries.map(({ bucket }) => bucket),
  );
  await snapshot.close();
  expect((await readFile(again)).equals(await readFile(path))).toBe(true);
});

test('the stream announces the size of the database and ends with the hash alone', async () => {
  const { totalBytes, chunks } = await streamSnapshot(() => entries);
  const parts = await collect(chunks);
  const file = Buffer.concat(parts);
  expect(parts.at(-1)?.length).toBe(32);
  expect(file.length).toBe(totalBytes + 32);
  await (await openSnapshot(memoryFile(file))).verifyHash();
});

test('chunks are as small as asked for, down to a page', async () => {
  const many = Array.from({ length: 500 }, (_, i) => revision(i + 2, 'k'.repeat(100)));
  const sizes: number[] = [];
  await writeSnapshot(
    () => many,
    (chunk) => void sizes.push(chunk.length),
    { chunkBytes: 8192 },
  );
  const [head, ...rest] = sizes;
  expect(head).toBe(3 * 4096);
  expect(Math.max(...rest)).toBe(8192);
});

test('a damaged, a cut off and an unhashed snapshot each get their own reason', async () => {
  await saveSnapshot(path, () => entries);
  const whole = await readFile(path);
  const verify = async (content: Buffer) => {
    await writeFile(path, content);
    return verifySnapshot(path);
  };
  const flipped = Buffer.from(whole);
  flipped[whole.length - 40]! ^= 1;
  await expect(verify(flipped)).rejects.toMatchObject({ reason: 'HashMismatch' });
  await expect(verify(whole.subarray(0, whole.length - 32))).rejects.toMatchObject({ reason: 'HashMissing' });
  await expect(verify(whole.subarray(0, whole.length - 4096))).rejects.toMatchObject({ reason: 'Truncated' });
  await expect(verify(Buffer.from('not a snapshot'))).rejects.toMatchObject({ reason: 'NotADatabase' });
});

test('a failed save leaves no file behind, neither whole nor in part', async () => {
  const broken = () => [revision(3, 'b'), revision(2, 'a')];
  await expect(saveSnapshot(path, broken)).rejects.toMatchObject({ reason: 'OutOfOrder' });
  expect(await readdir(directory)).toEqual([]);
});

test('a missing bucket is said by name', async () => {
  await saveSnapshot(path, () => entries);
  const snapshot = await readSnapshot(path);
  await expect(collect(snapshot.entries('nope'))).rejects.toMatchObject({ reason: 'NoSuchBucket' });
  expect(await snapshot.get('nope', Buffer.from('k'))).toBeUndefined();
  await snapshot.close();
});

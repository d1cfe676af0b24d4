import { createHash, type BinaryLike } from 'node:crypto';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { hasReason } from '../../../base/errors.ts';
import { memoryFile } from '../random-access.ts';
import { checkBolt } from './check.ts';
import { PAGE_BYTES, compareBytes } from './format.ts';
import { countOf, flagsOf } from './page.ts';
import { openBolt, requireBucket } from './reader.ts';
import { buildBolt, bytes, collect, entry, meteredFile, text } from './testing.ts';
import { planBolt, streamBolt, writeBolt, type BoltEntry } from './writer.ts';

/** Seconds on a quiet machine; a busy one must not fail it. */
vi.setConfig({ testTimeout: 120_000 });

const contentOf = async (file: Uint8Array): Promise<BoltEntry[]> => {
  const bolt = await openBolt(memoryFile(file));
  await checkBolt(bolt);
  const found: BoltEntry[] = [];
  for await (const name of bolt.root.bucketNames()) {
    const bucket = Buffer.from(name).toString();
    for await (const { key, value } of (await requireBucket(bolt, bucket)).entries()) {
      found.push({ bucket, key: Buffer.from(key), value: Buffer.from(value) });
    }
  }
  return found;
};

const sha256 = (data: BinaryLike): string => createHash('sha256').update(data).digest('hex');

/** Text compares a thousand times faster than buffers do, and shows the entry that differs. */
const digestOf = (entries: readonly BoltEntry[]): string[] =>
  entries.map(({ bucket, key, value }) => [bucket, sha256(key), value.length, sha256(value)].join(' '));

const numbered = (count: number, valueBytes: number): BoltEntry[] =>
  Array.from({ length: count }, (_, i) => ({
    bucket: 'key',
    key: Buffer.from(String(i).padStart(9, '0')),
    value: Buffer.alloc(valueBytes, i),
  }));

const rows = fc.uniqueArray(
  fc.tuple(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.nat(9000).map((size) => new Uint8Array(size).fill(size)),
    ),
  ),
  { maxLength: 120, selector: ([key]) => Buffer.from(key).toString('hex') },
);
const database = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 12 }), rows), {
  maxLength: 6,
  selector: ([name]) => Buffer.from(name).toString('hex'),
});

test('whatever is written is read back, and passes the check', async () => {
  await fc.assert(
    fc.asyncProperty(database, async (buckets) => {
      const entries = [...buckets]
        .sort(([a], [b]) => compareBytes(Buffer.from(a), Buffer.from(b)))
        .flatMap(([bucket, items]) =>
          [...items]
            .sort(([a], [b]) => compareBytes(a, b))
            .map(([key, value]) => ({ bucket, key: Buffer.from(key), value: Buffer.from(value) })),
        );
      const names = buckets.map(([name]) => name);
      const file = await buildBolt(entries, names);
      expect(digestOf(await contentOf(file))).toEqual(digestOf(entries));
      const found = await collect((await openBolt(memoryFile(file))).root.bucketNames());
      expect(found.map(text).sort()).toEqual([...names].sort());
    }),
    { numRuns: 150 },
  );
});

test.each([0, 1, 39, 40, 41, 5_000, 60_000])(
  'a bucket of %i entries of every tree height holds',
  async (count) => {
    const entries = numbered(count, 60);
    const file = await buildBolt(entries, ['key']);
    expect(digestOf(await contentOf(file))).toEqual(digestOf(entries));
  },
);

test('no branch page ends up with a single child', async () => {
  // Long keys make branch pages small, so that many different counts of children occur.
  for (let count = 2; count < 200; count += 1) {
    const entries = Array.from({ length: count }, (_, i) => ({
      bucket: 'b',
      key: Buffer.concat([Buffer.from(String(i).padStart(4, '0')), Buffer.alloc(1400, 'k')]),
      value: Buffer.alloc(2500),
    }));
    const file = await buildBolt(entries);
    await checkBolt(await openBolt(memoryFile(file)));
    for (let at = 3 * PAGE_BYTES; at < file.length;) {
      const page = file.subarray(at);
      if (flagsOf(page) === 1) expect(countOf(page)).toBeGreaterThanOrEqual(2);
      at += (1 + page.readUInt32LE(12)) * PAGE_BYTES;
    }
  }
});

test('the largest key and a value of many pages survive', async () => {
  const entries = [
    { bucket: 'b', key: Buffer.alloc(32768, 1), value: Buffer.alloc(3_000_000, 7) },
    { bucket: 'b', key: Buffer.alloc(32768, 2), value: Buffer.alloc(0) },
    { bucket: 'b', key: Buffer.alloc(32768, 3), value: Buffer.alloc(1) },
  ];
  expect(digestOf(await contentOf(await buildBolt(entries)))).toEqual(digestOf(entries));
});

test('small buckets live inside the root page, as bbolt keeps them', async () => {
  const file = await buildBolt([entry('a', 'k', 'v')], ['empty']);
  const bolt = await openBolt(memoryFile(file));
  expect(bolt.meta.pageCount).toBe(4);
  expect(typeof (await requireBucket(bolt, 'a')).root).toBe('object');
});

test('the one pass into a file and the stream of two passes give the same bytes', async () => {
  const entries = numbered(3_000, 200);
  const file = Buffer.alloc(2_000_000);
  const plan = await writeBolt(entries, {
    write: (offset, chunks) => Promise.resolve(void Buffer.concat(chunks).copy(file, offset)),
  });
  expect(file.subarray(0, plan.totalBytes).equals(await buildBolt(entries))).toBe(true);
});

test('reading never asks for more than the read-ahead of the file', async () => {
  const file = meteredFile(await buildBolt(numbered(20_000, 100)));
  const bucket = await requireBucket(await openBolt(file), 'key');
  expect((await collect(bucket.entries())).length).toBe(20_000);
  expect(text((await bucket.get(bytes('000019999')))?.subarray(0, 0))).toBe('');
  expect(file.largestReadBytes()).toBeLessThanOrEqual(256 * 1024);
});

test('every key is found by lookup, and no other', async () => {
  const bucket = await requireBucket(await openBolt(memoryFile(await buildBolt(numbered(5_000, 30)))), 'key');
  for (let i = 0; i < 5_000; i += 7) {
    expect((await bucket.get(bytes(String(i).padStart(9, '0'))))?.[0]).toBe(i & 0xff);
  }
  expect([
    await bucket.get(bytes('')),
    await bucket.get(bytes('0000000001')),
    await bucket.get(bytes('x')),
  ]).toEqual([undefined, undefined, undefined]);
});

test.each([
  ['keys out of order', [entry('b', '2'), entry('b', '1')], 'OutOfOrder'],
  ['a key twice', [entry('b', '1'), entry('b', '1')], 'OutOfOrder'],
  ['a bucket that comes back', [entry('a', '1'), entry('b', '1'), entry('a', '2')], 'OutOfOrder'],
  ['an empty key', [entry('b', '')], 'InvalidEntry'],
  ['a bucket without a name', [entry('', 'k')], 'InvalidEntry'],
  ['a key that is too long', [entry('b', 'k'.repeat(32769))], 'InvalidEntry'],
] as const)('%s is refused', async (_what, entries, reason) => {
  await expect(planBolt(entries)).rejects.toSatisfy((error) => hasReason(error, reason));
});

test('keys out of order are noticed across pages', async () => {
  const big = (key: string): BoltEntry => ({ bucket: 'b', key: bytes(key), value: Buffer.alloc(4000) });
  await expect(planBolt([big('2'), big('3'), big('1')])).rejects.toSatisfy((error) =>
    hasReason(error, 'OutOfOrder'),
  );
});

test.each([
  ['more', numbered(900, 100)],
  ['fewer', numbered(100, 100)],
])('a source with %s entries in the second pass is noticed', async (_what, second) => {
  const plan = await planBolt(numbered(500, 100));
  await expect(collect(streamBolt(second, plan))).rejects.toSatisfy((error) =>
    hasReason(error, 'SourceChanged'),
  );
});

test('a source may reuse its buffers between entries', async () => {
  function* reused(): Generator<BoltEntry> {
    const key = Buffer.alloc(4);
    const value = Buffer.alloc(300);
    for (let i = 0; i < 1000; i += 1) {
      key.writeUInt32BE(i);
      value.fill(i);
      yield { bucket: 'b', key, value };
    }
  }
  const plan = await planBolt(reused());
  const file = Buffer.concat(await collect(streamBolt(reused(), plan)));
  const found = await contentOf(file);
  expect(found.map(({ key, value }) => [Buffer.from(key).readUInt32BE(), value[299]])).toEqual(
    Array.from({ length: 1000 }, (_, i) => [i, i & 0xff]),
  );
});

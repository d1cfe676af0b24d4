import { expect, test } from 'vitest';
import { memoryFile } from '../random-access.ts';
import { checkBolt } from './check.ts';
import { PAGE_BYTES, writeU16, writeU32, writeU64 } from './format.ts';
import { freePageIds } from './freelist.ts';
import { openBolt, requireBucket } from './reader.ts';
import {
  branch,
  bucketValue,
  buildBolt,
  bytes,
  collect,
  entry,
  freelist,
  handmade,
  leaf,
  text,
} from './testing.ts';

const open = (file: Uint8Array) => openBolt(memoryFile(file));

/** Reads all that can be read; resolves only for a sound file. */
const readAll = async (file: Uint8Array): Promise<void> => {
  const bolt = await open(file);
  await checkBolt(bolt);
};

const sound = (): Buffer =>
  handmade([
    freelist([7]),
    leaf({ key: 'b', value: bucketValue(4), flags: 1 }),
    branch(['k1', 5], ['k5', 6]),
    leaf({ key: 'k1', value: 'one' }, { key: 'k2', value: 'two' }),
    leaf({ key: 'k5', value: 'five' }),
    leaf(),
  ]);

const page = (file: Buffer, id: number): Buffer => file.subarray(id * PAGE_BYTES);

test('branch pages are followed in order', async () => {
  const file = sound();
  await readAll(file);
  const entries = await collect((await requireBucket(await open(file), 'b')).entries());
  expect(entries.map(({ key, value }) => [text(key), text(value)])).toEqual([
    ['k1', 'one'],
    ['k2', 'two'],
    ['k5', 'five'],
  ]);
});

test('buckets nest', async () => {
  const file = handmade([
    freelist([]),
    leaf({ key: 'outer', value: bucketValue(4, 9), flags: 1 }),
    leaf({ key: 'inner', value: bucketValue(5), flags: 1 }, { key: 'plain', value: 'p' }),
    leaf({ key: 'deep', value: 'd' }),
  ]);
  await readAll(file);
  const outer = await requireBucket(await open(file), 'outer');
  const inner = await outer.bucket(bytes('inner'));
  expect({
    sequence: outer.sequence,
    names: (await collect(outer.bucketNames())).map(text),
    plain: (await collect(outer.entries())).map(({ key }) => text(key)),
    bucketAsValue: await outer.get(bytes('inner')),
    valueAsBucket: await outer.bucket(bytes('plain')),
    deep: text(await inner?.get(bytes('deep'))),
  }).toEqual({
    sequence: 9,
    names: ['inner'],
    plain: ['plain'],
    bucketAsValue: undefined,
    valueAsBucket: undefined,
    deep: 'd',
  });
});

test('the newer of two valid meta pages counts', async () => {
  const file = sound();
  const older = handmade([], { rootPage: 3, pageCount: 8, txid: 7 });
  older.copy(file, PAGE_BYTES, 0, PAGE_BYTES);
  expect((await open(file)).meta.txid).toBe(7);
});

test.each([0, 1])('with meta page %i torn the other one serves', async (torn) => {
  const file = await buildBolt([entry('b', 'k', 'v')]);
  file.fill(0xaa, torn * PAGE_BYTES + 20, torn * PAGE_BYTES + 60);
  const value = await (await requireBucket(await open(file), 'b')).get(bytes('k'));
  expect(text(value)).toBe('v');
});

test.each([1024, 16_384, 65_536, 1 << 20])(
  'pages of %i bytes are read, even with meta page 0 torn',
  async (size) => {
    const pages = [
      freelist([]),
      leaf({ key: 'b', value: bucketValue(4), flags: 1 }),
      leaf({ key: 'k', value: 'v' }),
    ];
    const file = handmade(pages, {}, size);
    for (const torn of [false, true]) {
      if (torn) file.fill(0, 0, 80);
      await readAll(file);
      expect(text(await (await requireBucket(await open(file), 'b')).get(bytes('k')))).toBe('v');
    }
  },
);

test('a database without a stored freelist passes the check with unreached pages', async () => {
  const file = handmade([leaf(), leaf({ key: 'b', value: bucketValue(4), flags: 1 }), leaf(), leaf()], {
    freelistPage: undefined,
  });
  await readAll(file);
});

test('a freelist past 16 bits keeps its length in the first element', () => {
  const ids = Array.from({ length: 70_000 }, (_, i) => i + 10);
  const bytesOfPage = Buffer.alloc(16 + 8 * 70_001);
  freelist([ids.length, ...ids], 0xffff).encodeInto(bytesOfPage);
  expect([...freePageIds(bytesOfPage, 'freelist')]).toEqual(ids);
});

const inline = (size: number): Uint8Array => new Uint8Array(size);

test.each<[string, (file: Buffer) => Uint8Array, RegExp]>([
  ['an empty file', () => Buffer.alloc(0), /not a bbolt database: meta page 0: the file ends/],
  ['text', () => Buffer.alloc(10_000, 'text '), /magic number/],
  [
    'a file cut off',
    (file) => file.subarray(0, 6 * PAGE_BYTES),
    /has 8 pages of 4096 bytes, the file only 24576/,
  ],
  [
    'a wrong version',
    (file) => (writeU32(file, 20, 3), file.fill(0, PAGE_BYTES, 2 * PAGE_BYTES)),
    /version is 3/,
  ],
  ['an odd page size', () => handmade([], { pageBytes: 5000 }), /page size 5000/],
  ['a root out of range', () => handmade([], { rootPage: 99 }), /root page 99 is outside/],
  [
    'a freelist out of range',
    () => handmade([leaf(), leaf()], { freelistPage: 99 }),
    /freelist page 99 is outside/,
  ],
  ['a child out of range', (file) => (writeU64(page(file, 4), 24, 999), file), /page 4: refers to page 999/],
  [
    'a child that is a meta page',
    (file) => (writeU64(page(file, 4), 24, 1), file),
    /page 4: refers to page 1,/,
  ],
  [
    'a page with a foreign id',
    (file) => (writeU64(page(file, 5), 0, 6), file),
    /page 5: calls itself page 6/,
  ],
  [
    'a branch that is its own child',
    (file) => (writeU64(page(file, 4), 24, 4), file),
    /page 4: holds keys outside of the range/,
  ],
  [
    'a leaf used twice',
    (file) => (writeU64(page(file, 4), 40, 5), file),
    /page 5: holds keys outside of the range/,
  ],
  [
    'a freed page in use',
    (file) => (writeU64(page(file, 2), 16, 5), file),
    /page 5: is in use and in the freelist/,
  ],
  ['a lost page', (file) => (writeU16(page(file, 2), 10, 0), file), /page 7: is neither in use nor free/],
  ['a free page out of range', (file) => (writeU64(page(file, 2), 16, 8), file), /lists page 8, outside/],
  ['a freelist that is none', (file) => (writeU16(page(file, 2), 8, 2), file), /expected a freelist page/],
  ['a freelist too long', (file) => (writeU16(page(file, 2), 10, 9999), file), /9999 free pages do not fit/],
  [
    'a page doubly free',
    (file) => {
      freelist([7, 7]).encodeInto(page(file, 2));
      writeU64(page(file, 2), 0, 2);
      return file;
    },
    /lists page 7 twice/,
  ],
  [
    'unknown page flags',
    (file) => (writeU16(page(file, 5), 8, 0x20), file),
    /page 5: expected a branch or leaf/,
  ],
  ['too many elements', (file) => (writeU16(page(file, 5), 10, 60_000), file), /60000 elements do not fit/],
  ['an empty branch', (file) => (writeU16(page(file, 4), 10, 0), file), /branch page without elements/],
  ['an element past the page', (file) => (writeU32(page(file, 5), 28, 5000), file), /element 0 ends at byte/],
  [
    'an element over the table',
    (file) => (writeU32(page(file, 5), 20, 4), file),
    /points into the element table/,
  ],
  ['an empty key', (file) => (writeU32(page(file, 5), 24, 0), file), /key of element 0 is empty/],
  ['unknown element flags', (file) => (writeU32(page(file, 5), 16, 6), file), /unknown flags 0x06/],
  [
    'overflow past the end',
    (file) => (writeU32(page(file, 6), 12, 50), file),
    /50 overflow pages pass the end/,
  ],
  [
    'keys out of order',
    () =>
      handmade([
        freelist([]),
        leaf({ key: 'b', value: bucketValue(4), flags: 1 }),
        leaf({ key: 'z', value: '' }, { key: 'a', value: '' }),
      ]),
    /page 4: the key of element 1 is not after that of element 0/,
  ],
  [
    'a short bucket header',
    () => handmade([freelist([]), leaf({ key: 'b', value: inline(9), flags: 1 })]),
    /bucket "b": its header has 9/,
  ],
  [
    'an inline bucket without a page',
    () => handmade([freelist([]), leaf({ key: 'b', value: inline(20), flags: 1 })]),
    /inline page has no header/,
  ],
  [
    'an inline page without flags',
    () => handmade([freelist([]), leaf({ key: 'b', value: inline(40), flags: 1 })]),
    /inline page of bucket "b": expected/,
  ],
  [
    'a bucket inside itself',
    () =>
      handmade([
        freelist([]),
        leaf({ key: 'b', value: bucketValue(4), flags: 1 }),
        leaf({ key: 'b', value: bucketValue(4), flags: 1 }),
      ]),
    /page 4: is referenced more than once/,
  ],
])('%s is refused, and the message says where', async (_what, breakIt, message) => {
  await expect(readAll(breakIt(sound()))).rejects.toThrowError(
    expect.objectContaining({ name: 'ReasonError', message: expect.stringMatching(message) as string }),
  );
});

test('a loop of branch pages ends a lookup and an iteration', async () => {
  const file = handmade([
    freelist([]),
    leaf({ key: 'b', value: bucketValue(4), flags: 1 }),
    branch(['k', 5], ['m', 5]),
    branch(['k', 4], ['l', 4]),
  ]);
  const bucket = await requireBucket(await open(file), 'b');
  await expect(bucket.get(bytes('k'))).rejects.toThrow(/form a loop/);
  await expect(collect(bucket.entries())).rejects.toThrow(/form a loop|outside of the range/);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { nodeDisk } from '../../base/node/disk.ts';
import { seededRandom } from '../../base/random.ts';
import type { LogEntry } from '../../raft/types.ts';
import { SimDisk } from '../../../test/support/sim-disk.ts';
import { Wal, type WalBatch, type WalOptions } from './wal.ts';

const clock: Clock = { nowMs: () => 0, monotonicMs: () => 0, after: () => ({ dispose() {} }) };
const METADATA = { clusterId: '7', memberId: 42 };
const CONFIGURATION = { voters: [42], votersOutgoing: [], learners: [], learnersNext: [] };

const entry = (index: number, term = 1, size = 20): LogEntry => ({
  index,
  term,
  kind: 'normal',
  data: new Uint8Array(size).fill(index % 251 || 1),
});
const entries = (from: number, to: number, term = 1, size = 20): LogEntry[] =>
  Array.from({ length: to - from + 1 }, (_, i) => entry(from + i, term, size));
const plain = (list: readonly LogEntry[]): [number, number, number][] =>
  list.map(({ index, term, data }) => [index, term, data.byteLength]);

const setUp = (seed = 1, more: Partial<WalOptions> = {}) => {
  const disk = new SimDisk({ random: seededRandom(seed) });
  const options: WalOptions = { disk, directory: '/wal', clock, growthBytes: 4096, ...more };
  return { disk, options };
};
const segmentPaths = async (disk: SimDisk): Promise<string[]> =>
  (await disk.list('/wal')).filter((name) => name.endsWith('.wal')).map((name) => `/wal/${name}`);

test('appended entries are read back', async () => {
  const { options } = setUp();
  const wal = await Wal.create(options, METADATA);
  const config: LogEntry = { index: 3, term: 2, kind: 'config', data: Uint8Array.of(0, 255) };
  const blank: LogEntry = { index: 4, term: 2, kind: 'empty', data: new Uint8Array(0) };
  await wal.append({
    hardState: { term: 2, vote: 42, commit: 0 },
    entries: [...entries(1, 2), config, blank],
  });
  await wal.close();
  const { contents } = await Wal.open(options);
  expect(contents.metadata).toEqual(METADATA);
  expect(contents.hardState).toEqual({ term: 2, vote: 42, commit: 0 });
  expect(contents.snapshotMark).toBeUndefined();
  expect(contents.entries.map((e) => ({ ...e, data: [...e.data] }))).toEqual(
    [...entries(1, 2), config, blank].map((e) => ({ ...e, data: [...e.data] })),
  );
});

test('batches given while a sync is in progress share the next sync', async () => {
  const { disk, options } = setUp();
  const wal = await Wal.create(options, METADATA);
  const before = disk.syncCount;
  await Promise.all(entries(1, 50).map((e) => wal.append({ entries: [e] })));
  expect(disk.syncCount - before).toBe(2);
  await wal.close();
  expect(plain((await Wal.open(options)).contents.entries)).toEqual(plain(entries(1, 50)));
});

test('a commit index that moves alone needs no sync and is kept by an orderly close', async () => {
  const { disk, options } = setUp();
  const wal = await Wal.create(options, METADATA);
  await wal.append({ hardState: { term: 1, vote: 42, commit: 0 }, entries: entries(1, 2) });
  const before = disk.syncCount;
  await wal.append({ hardState: { term: 1, vote: 42, commit: 2 } });
  expect(disk.syncCount).toBe(before);
  await wal.close();
  expect((await Wal.open(options)).contents.hardState.commit).toBe(2);
});

test('a new vote is synced even without entries', async () => {
  const { disk, options } = setUp();
  const wal = await Wal.create(options, METADATA);
  await wal.append({ hardState: { term: 3, vote: 9, commit: 0 } });
  disk.crash('lost');
  expect((await Wal.open(options)).contents.hardState).toEqual({ term: 3, vote: 9, commit: 0 });
});

test('an entry with an earlier index replaces the tail from there on', async () => {
  const { options } = setUp();
  const wal = await Wal.create(options, METADATA);
  await wal.append({ entries: entries(1, 6, 1) });
  await wal.append({ entries: entries(4, 5, 2) });
  await wal.close();
  expect(plain((await Wal.open(options)).contents.entries)).toEqual(
    plain([...entries(1, 3, 1), ...entries(4, 5, 2)]),
  );
});

test('a snapshot mark inside the log leaves the entries after it', async () => {
  const { options } = setUp();
  const wal = await Wal.create(options, METADATA);
  await wal.append({ entries: entries(1, 6) });
  await wal.append({ snapshot: { index: 4, term: 1, configuration: CONFIGURATION } });
  await wal.append({ entries: entries(7, 8) });
  await wal.close();
  const { contents } = await Wal.open(options);
  expect(contents.snapshotMark).toEqual({ index: 4, term: 1, configuration: CONFIGURATION });
  expect(plain(contents.entries)).toEqual(plain(entries(5, 8)));
});

test('a snapshot mark beyond the log voids the log before it', async () => {
  const { options } = setUp();
  const wal = await Wal.create(options, METADATA);
  await wal.append({ entries: entries(1, 6) });
  await wal.append({ snapshot: { index: 100, term: 3, configuration: CONFIGURATION } });
  await wal.append({ entries: entries(101, 102, 3) });
  await wal.close();
  expect(plain((await Wal.open(options)).contents.entries)).toEqual(plain(entries(101, 102, 3)));
});

test('segments are cut, chained and released once a mark covers them', async () => {
  const { disk, options } = setUp(1, { segmentBytes: 1000 });
  const wal = await Wal.create(options, METADATA);
  for (let i = 1; i <= 60; i += 1)
    await wal.append({ entries: [entry(i)], hardState: { term: 1, vote: 42, commit: i - 1 } });
  expect(wal.segmentCount).toBeGreaterThan(4);
  const reopened = await Wal.open(options);
  expect(plain(reopened.contents.entries)).toEqual(plain(entries(1, 60)));
  await reopened.wal.append({ snapshot: { index: 50, term: 1, configuration: CONFIGURATION } });
  const before = reopened.wal.segmentCount;
  await reopened.wal.release(50);
  expect(reopened.wal.segmentCount).toBeLessThan(before);
  disk.crash();
  const { contents } = await Wal.open(options);
  expect(contents.metadata).toEqual(METADATA);
  expect(contents.hardState).toEqual({ term: 1, vote: 42, commit: 59 });
  expect(plain(contents.entries)).toEqual(plain(entries(51, 60)));
});

test('released segments are kept as far as they were asked for', async () => {
  const { options } = setUp(1, { segmentBytes: 1000 });
  const wal = await Wal.create(options, METADATA);
  for (let i = 1; i <= 60; i += 1) await wal.append({ entries: [entry(i)] });
  await wal.append({ snapshot: { index: 60, term: 1, configuration: CONFIGURATION } });
  await wal.release(60, { keep: 4 });
  expect(wal.segmentCount).toBe(4);
  const { wal: reopened, contents } = await Wal.open(options);
  expect({ kept: reopened.segmentCount, entries: contents.entries.length }).toEqual({ kept: 4, entries: 0 });
  await reopened.release(60);
  expect(reopened.segmentCount).toBe(1);
});

test('a last record torn at any byte is cut off, and the log continues behind it', async () => {
  const written = async (size: number) => {
    const { disk, options } = setUp();
    const wal = await Wal.create(options, METADATA);
    await wal.append({ entries: entries(1, 3) });
    const path = (await segmentPaths(disk))[0] as string;
    const start = usedBytes(disk.contents(path));
    await wal.append({ entries: [entry(4, 1, size)] });
    return { disk, options, path, start, end: usedBytes(disk.contents(path)) };
  };
  for (const size of [3, 700]) {
    const { end, start } = await written(size);
    for (let cut = start; cut < end; cut += size > 100 ? 7 : 1) {
      const { disk, options, path } = await written(size);
      const file = await disk.open(path, { create: false });
      await file.write(cut, [new Uint8Array(end - cut)]);
      const { wal, contents } = await Wal.open(options);
      expect(plain(contents.entries), `cut at ${cut - start}`).toEqual(plain(entries(1, 3)));
      await wal.append({ entries: entries(4, 5, 2) });
      await wal.close();
      expect(plain((await Wal.open(options)).contents.entries)).toEqual(
        plain([...entries(1, 3), ...entries(4, 5, 2)]),
      );
    }
  }
});

/** Up to the last byte that is not zero. */
const usedBytes = (bytes: Buffer): number => {
  let end = bytes.byteLength;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
};

test('a flipped bit in any synced record is refused with file and offset, never repaired', async () => {
  const { disk, options } = setUp();
  const wal = await Wal.create(options, METADATA);
  await wal.append({ entries: entries(1, 4, 1, 40) });
  await wal.close();
  const path = (await segmentPaths(disk))[0] as string;
  const end = usedBytes(disk.contents(path));
  const outcomes = new Set<string>();
  for (let offset = 0; offset < end; offset += 1) {
    disk.corrupt(path, offset);
    const outcome = await Wal.open(options).then(
      ({ contents }) => `read ${contents.entries.length} entries`,
      (error: Error) => error.message.replace(/\d+/g, 'N').slice(0, 60),
    );
    // Padding carries no meaning; a flip there may go unseen, but nothing may be lost by it.
    outcomes.add(outcome);
    disk.corrupt(path, offset);
  }
  expect([...outcomes].filter((o) => o.startsWith('read'))).toEqual(['read 4 entries']);
  disk.corrupt(path, end - 30);
  await expect(Wal.open(options)).rejects.toThrow(/in \/wal\/0{16}-0{16}\.wal at offset \d+; do not delete/);
});

test('a missing segment in the middle is refused', async () => {
  const { disk, options } = setUp(1, { segmentBytes: 500 });
  const wal = await Wal.create(options, METADATA);
  for (let i = 1; i <= 40; i += 1) await wal.append({ entries: [entry(i)] });
  await wal.close();
  await disk.remove((await segmentPaths(disk))[2] as string);
  await expect(Wal.open(options)).rejects.toMatchObject({ reason: 'Missing' });
});

test('after a failed sync nothing more is accepted', async () => {
  const { disk, options } = setUp();
  const wal = await Wal.create(options, METADATA);
  await wal.append({ entries: [entry(1)] });
  disk.failNextSync();
  await expect(wal.append({ entries: [entry(2)] })).rejects.toThrow('EIO');
  await expect(wal.append({ entries: [entry(3)] })).rejects.toMatchObject({ reason: 'Failed' });
});

test('random crashes lose nothing that was acknowledged', async () => {
  for (let seed = 1; seed <= 150; seed += 1) {
    const random = seededRandom(seed);
    const { disk, options } = setUp(seed, { segmentBytes: 3000 });
    let wal = await Wal.create(options, METADATA);
    let log: LogEntry[] = [];
    let term = 1;
    for (let life = 0; life < 4; life += 1) {
      for (let step = random.below(25); step > 0; step -= 1) {
        const from = Math.max(1, log.length + 1 - (random.below(4) === 0 ? random.below(3) : 0));
        term += random.below(2);
        const added = entries(from, from + random.below(4), term, random.below(900));
        await wal.append({ entries: added, hardState: { term, vote: 1, commit: 0 } });
        log = [...log.slice(0, from - 1), ...added];
      }
      // One more write that no one waits for when the power goes.
      const lost: WalBatch = {
        entries: entries(log.length + 1, log.length + 1 + random.below(3), term, 700),
      };
      const unanswered = wal.append(lost).then(
        () => true,
        () => false,
      );
      disk.crash();
      await unanswered;
      const reopened = await Wal.open(options);
      const found = reopened.contents.entries;
      expect(plain(found.slice(0, log.length)), `seed ${seed}`).toEqual(plain(log));
      expect(found.length).toBeLessThanOrEqual(log.length + 3);
      expect(reopened.contents.hardState.term).toBe(log.length === 0 ? 0 : term);
      log = [...found];
      wal = reopened.wal;
    }
  }
});

test('works on a real disk across a restart, with segments of zeros ahead of the records', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'wal-'));
  try {
    const options: WalOptions = { disk: nodeDisk, directory, clock, segmentBytes: 20_000 };
    const wal = await Wal.create(options, METADATA);
    for (let i = 1; i <= 40; i += 1)
      await wal.append({ entries: [entry(i, 1, 1000)], hardState: { term: 1, vote: 42, commit: i } });
    // Larger than what is written inline.
    await wal.append({ entries: [entry(41, 1, 600_000)] });
    const { contents, wal: again } = await Wal.open(options);
    expect(plain(contents.entries)).toEqual(plain([...entries(1, 40, 1, 1000), entry(41, 1, 600_000)]));
    await again.close();
    await wal.close();
  } finally {
    await rm(directory, { recursive: true });
  }
});

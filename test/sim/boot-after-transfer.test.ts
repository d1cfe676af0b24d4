import { expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import { silentLog } from '../../core/base/log.ts';
import { seededRandom } from '../../core/base/random.ts';
import { readMemberConfig } from '../../core/etcd/config/config.ts';
import { bootMember } from '../../core/etcd/member/boot.ts';
import type { MemberPorts } from '../../core/etcd/member/ports.ts';
import { MemoryDatabase } from '../../core/etcd/mvcc/backend/memory-engine.ts';
import { Wal } from '../../core/etcd/wal/index.ts';
import { SimDisk } from '../support/sim-disk.ts';

const clock = manualClock();
const random = seededRandom(1);
const config = readMemberConfig(['--name=m1', '--data-dir=/m1']);
const options = (disk: SimDisk) => ({ disk, directory: config.walDirectory, clock });
const entry = (index: number, term: number) =>
  ({ index, term, kind: 'normal', data: Buffer.from(`entry ${index}`) }) as const;
const span = (from: number, to: number, term: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => entry(from + i, term));

/** A member on this disk whose database is at an entry. */
const memberAt = async (disk: SimDisk, index: number, term: number) => {
  const database = new MemoryDatabase();
  const backend = database.open({ clock });
  backend.setConsistentIndex(index, term);
  await backend.close();
  const ports = {
    clock,
    random,
    log: silentLog,
    disk,
    backends: { open: () => Promise.resolve(database.open({ clock })) },
  } as unknown as MemberPorts;
  return { disk, boot: () => bootMember(config, ports, {}) };
};

/** A member whose log holds `entries`, and whose database was taken over at entry 30 of term 5. */
const crashedAfterPromotion = async (entries: ReturnType<typeof span>) => {
  const disk = new SimDisk({ random });
  const wal = await Wal.create(options(disk), { memberId: 1, clusterId: 'a' });
  await wal.append({ entries, hardState: { term: 3, vote: 2, commit: 5 } });
  await wal.close();
  return memberAt(disk, 30, 5);
};

test.each([
  ['ends before it', span(1, 20, 3)],
  ['goes on with entries of a leader that was overruled', span(1, 40, 3)],
])('a database ahead of the log wins when the log %s', async (_what, entries) => {
  const { disk, boot } = await crashedAfterPromotion(entries);
  const { mark, entries: left, hardState, wal } = await boot();
  expect({ mark, left, hardState }).toEqual({
    mark: { index: 30, term: 5 },
    left: [],
    hardState: { term: 5, vote: 0, commit: 30 },
  });
  await wal.append({ entries: [entry(31, 5)] });
  await wal.close();
  const { contents } = await Wal.open(options(disk));
  expect([contents.snapshotMark?.index, contents.entries.map(({ index }) => index)]).toEqual([30, [31]]);
});

test('a log that leads to the database is kept', async () => {
  const { boot } = await crashedAfterPromotion([...span(1, 29, 3), ...span(30, 32, 5)]);
  const { mark, entries, hardState } = await boot();
  expect([mark.index, entries.length, hardState.commit]).toEqual([0, 32, 30]);
});

const LOST = {
  reason: 'DataLost',
  message: expect.stringMatching(/^\/m1\/.*wal holds no log, but .* up to 30/),
};

test('a database without its log is no member, and no log is created for it', async () => {
  const { disk, boot } = await memberAt(new SimDisk({ random }), 30, 5);
  await expect(boot()).rejects.toMatchObject(LOST);
  expect(await Wal.exists(disk, config.walDirectory)).toBe(false);
});

test('a log of which only the beginning is left is a lost one too', async () => {
  const disk = new SimDisk({ random });
  await (await Wal.create(options(disk), { memberId: 1, clusterId: 'a' })).close();
  const { boot } = await memberAt(disk, 30, 5);
  await expect(boot()).rejects.toMatchObject(LOST);
});

test('a state restored from a snapshot file starts its log', async () => {
  const { boot } = await memberAt(new SimDisk({ random }), 1, 1);
  expect(await boot()).toMatchObject({ isFirstStart: true, mark: { index: 1, term: 1 }, entries: [] });
});

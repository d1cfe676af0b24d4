import { expect, test } from 'vitest';
import { MemoryDatabase } from './backend/memory-engine.ts';
import { crc32c } from '../../base/crc32c.ts';
import { Store } from './store.ts';
import { FakeClock } from './testing/fake-clock.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

test('crc32c gives the check value of its standard, in one piece or several', () => {
  const check = bytes('123456789');
  expect(crc32c(0, check)).toBe(0xe3069283);
  expect(crc32c(crc32c(0, check.subarray(0, 4)), check.subarray(4))).toBe(0xe3069283);
});

test('hashes equal those of etcd 3.4.23 for the same history, before and after compactions', async () => {
  const clock = new FakeClock();
  const backend = new MemoryDatabase().open({ clock });
  const store = await Store.open({ backend, clock });
  const put = (key: string, value: string, lease = 0n): unknown =>
    store.put({ key: bytes(key), value: bytes(value), lease });
  const hash = async (revision = 0): Promise<[number, number]> => {
    const result = await store.hashKv(revision);
    return [result.hash, result.compactRevision];
  };
  for (const i of [1, 2, 3]) put('foo', `bar${i}`);
  put('zoo', '');
  store.deleteRange({ key: bytes('foo') });
  put('foo', 'again');
  put('leased', 'x', 0x390da1e2fba06f0bn);
  expect(await hash()).toEqual([3360077044, -1]);
  store.txn({
    compare: [{ key: bytes('foo'), target: 'value', operand: bytes('again'), result: 'equal' }],
    success: [
      { type: 'put', request: { key: bytes('t1'), value: bytes('a') } },
      { type: 'put', request: { key: bytes('t2'), value: bytes('b') } },
      { type: 'delete-range', request: { key: bytes('zoo') } },
    ],
    failure: [],
  });
  expect(await hash()).toEqual([2589375504, -1]);
  store.compact(6);
  await clock.advance(100);
  expect([await hash(), await hash(8)]).toEqual([
    [1519621977, 6],
    [2318952059, 6],
  ]);
  store.compact(9);
  await clock.advance(100);
  expect(await hash(0)).toEqual([406028798, 9]);
});

test('a compaction that was interrupted never gives a hash that differs from one that was not', async () => {
  const clock = new FakeClock();
  const compaction = { batchLimit: 10, pauseMs: 10 };
  const run = async (isInterrupted: boolean) => {
    const database = new MemoryDatabase();
    let store = await Store.open({ backend: database.open({ clock }), clock, compaction });
    for (let i = 0; i < 200; i += 1) store.put({ key: bytes(`k${i % 7}`), value: bytes(`${i}`), lease: 0n });
    store.compact(150);
    await clock.advance(35);
    if (isInterrupted) {
      // Some batches are gone by now, and the rest follows after the restart.
      await store.backend.commit();
      store.close();
      database.crash();
      store = await Store.open({ backend: database.open({ clock }), clock, compaction });
    }
    await clock.advance(1000);
    return { compacted: await store.hashKv(150), now: await store.hashKv(0), later: await store.hashKv(180) };
  };
  const [whole, resumed] = [await run(false), await run(true)];
  expect([resumed.now, resumed.later]).toEqual([whole.now, whole.later]);
  // The one remembered by the compaction is of another compact revision, so the two are not compared.
  expect(resumed.compacted.compactRevision).not.toBe(whole.compacted.compactRevision);
});

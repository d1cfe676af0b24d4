import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryDatabase } from './memory-engine.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

test('ranges see waiting, committing and committed writes as one', async () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = seededRandom(seed);
    const clock = new FakeClock();
    const database = new MemoryDatabase();
    const delay = (): Promise<void> => new Promise((resolve) => clock.after(random.below(150), resolve));
    const backend = database.open({ clock, beforeCommit: delay });
    const expected = new Map<string, string>();
    for (let step = 0; step < 200; step += 1) {
      const key = `k${random.below(30)}`;
      const action = random.below(8);
      if (action < 4) {
        backend.put('lease', bytes(key), bytes(`${step}`));
        expected.set(key, `${step}`);
      } else if (action < 6) {
        backend.delete('lease', bytes(key));
        expected.delete(key);
      } else if (action < 7) await clock.advance(random.below(80));
      const from = `k${random.below(30)}`;
      const to = random.below(3) === 0 ? undefined : `k${random.below(30)}`;
      const limit = random.below(12);
      const found = backend.range('lease', bytes(from), to === undefined ? undefined : bytes(to), limit);
      const wanted = [...expected].filter(([k]) => k >= from && (to === undefined || k < to)).sort();
      expect(
        found.map((entry) => [entry.key.toString(), entry.value.toString()]),
        `seed ${seed}, step ${step}`,
      ).toEqual(wanted.slice(0, limit));
      expect(backend.get('lease', bytes(key))?.toString()).toBe(expected.get(key));
    }
  }
});

test('a crash leaves exactly some commit, with the index that belongs to it', async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = seededRandom(seed);
    const clock = new FakeClock();
    const database = new MemoryDatabase();
    const delay = (): Promise<void> => new Promise((resolve) => clock.after(random.below(150), resolve));
    let backend = database.open({ clock, beforeCommit: delay });
    for (let index = 1; index <= 60; index += 1) {
      for (const name of ['a', 'b', `c${index}`]) backend.put('lease', bytes(name), bytes(`${index}`));
      backend.setConsistentIndex(index, 1);
      await clock.advance(random.below(60));
      if (random.below(12) !== 0) continue;
      database.crash();
      backend = database.open({ clock, beforeCommit: delay });
      const at = backend.consistentIndex;
      const values = ['a', 'b', `c${at}`].map((name) => backend.get('lease', bytes(name))?.toString());
      const wanted = at === 0 ? undefined : `${at}`;
      expect([values, backend.get('lease', bytes(`c${at + 1}`))], `seed ${seed}`).toEqual([
        [wanted, wanted, wanted],
        undefined,
      ]);
      index = at;
      if (random.below(4) === 0) break;
    }
  }
});

test('a few writes wait for a second, many for a tenth of it, and a flag is taken at its word', async () => {
  const committedAfterMs = async (
    writes: number,
    { commitIntervalMs, value = '1' }: { commitIntervalMs?: number; value?: string } = {},
  ): Promise<number> => {
    const clock = new FakeClock();
    let committedMs = NaN;
    const backend = new MemoryDatabase().open({
      clock,
      ...(commitIntervalMs !== undefined && { commitIntervalMs }),
      beforeCommit: () => {
        committedMs = clock.monotonicMs();
        return Promise.resolve();
      },
    });
    for (let i = 0; i < writes; i += 1) backend.put('key', bytes(`k${i}`), bytes(value));
    await clock.advance(5000);
    expect(backend.size().totalBytes).toBeGreaterThan(0);
    return committedMs;
  };
  expect(await committedAfterMs(1023)).toBe(1000);
  expect(await committedAfterMs(1024)).toBe(100);
  expect(await committedAfterMs(2, { value: 'v'.repeat(1 << 20) })).toBe(100);
  expect(await committedAfterMs(10_000)).toBe(0);
  expect(await committedAfterMs(1, { commitIntervalMs: 250 })).toBe(250);
});

test('a failed commit is reported once and fails everything after it', async () => {
  const clock = new FakeClock();
  const reported: unknown[] = [];
  const failure = new Error('disk full');
  const backend = new MemoryDatabase().open({
    clock,
    onCommitFailed: (error) => reported.push(error),
    beforeCommit: () => Promise.reject(failure),
  });
  backend.put('lease', bytes('a'), bytes('1'));
  await clock.advance(200);
  await expect(backend.commit()).rejects.toBe(failure);
  expect([reported, backend.get('lease', bytes('a'))?.toString()]).toEqual([[failure], '1']);
});

test('writes beyond the bound ask the writer to wait for a commit', async () => {
  const clock = new FakeClock();
  const backend = new MemoryDatabase().open({ clock });
  expect(backend.whenWritable()).toBeUndefined();
  for (let i = 0; i < 65; i += 1) backend.put('key', bytes(`k${i}`), Buffer.alloc(1024 * 1024));
  await backend.whenWritable();
  expect(backend.whenWritable()).toBeUndefined();
});

test('size follows what is committed', async () => {
  const clock = new FakeClock();
  const backend = new MemoryDatabase().open({ clock });
  backend.put('key', bytes('a'), bytes('12345'));
  backend.put('key', bytes('b'), bytes('1'));
  expect(backend.size().totalBytes).toBe(0);
  await backend.commit();
  backend.put('key', bytes('a'), bytes('1'));
  backend.delete('key', bytes('b'));
  await backend.commit();
  expect(backend.size()).toEqual({ totalBytes: 2, inUseBytes: 2 });
});

test('as many writes as the limit are committed without waiting for the interval', async () => {
  const clock = new FakeClock();
  let commits = 0;
  const backend = new MemoryDatabase().open({
    clock,
    commitIntervalMs: 60_000,
    commitWritesMax: 3,
    beforeCommit: () => Promise.resolve(void (commits += 1)),
  });
  for (const key of ['a', 'b']) backend.put('lease', bytes(key), bytes('1'));
  await clock.advance(1);
  expect(commits).toBe(0);
  backend.put('lease', bytes('c'), bytes('1'));
  await clock.advance(1);
  expect(commits).toBe(1);
});

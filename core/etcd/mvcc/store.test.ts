import { expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { MemoryDatabase } from './backend/memory-engine.ts';
import { Store } from './store.ts';

const b = (t: string): Buffer => Buffer.from(t);

test('smoke', async () => {
  const backend = new MemoryDatabase().open({ clock: systemClock });
  const store = await Store.open({ backend, clock: systemClock });
  store.put({ key: b('a'), value: b('1') });
  store.put({ key: b('a'), value: b('2') });
  store.put({ key: b('b'), value: b('3') });
  const r = store.range({ key: b('a'), rangeEnd: b('c') });
  expect(
    r.kvs.map((kv) => [
      kv.key.toString(),
      kv.value.toString(),
      kv.createRevision,
      kv.modRevision,
      kv.version,
    ]),
  ).toEqual([
    ['a', '2', 2, 3, 2],
    ['b', '3', 4, 4, 1],
  ]);
  expect(store.range({ key: b('a'), revision: 2 }).kvs[0]?.value.toString()).toBe('1');
  await store.compact(3).done;
  expect(() => store.range({ key: b('a'), revision: 2 })).toThrow('compacted');
  await backend.close();
});

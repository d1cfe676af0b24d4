import { expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import type { Backend } from './backend/backend.ts';
import { MemoryDatabase } from './backend/memory-engine.ts';
import { MvccError } from './errors.ts';
import { KeyValue } from './key-value.ts';
import { Store } from './store.ts';
import { FakeClock } from './testing/fake-clock.ts';
import { ModelStore } from './testing/model-store.ts';
import { randomDelete, randomPut, randomRead, randomTxn } from './testing/random-requests.ts';

const noPause = (): Promise<void> => Promise.resolve();

/** Results with key-values as plain data, failures as their reason. */
const plain = (value: unknown): unknown => {
  if (value instanceof KeyValue) {
    const { key, value: bytes, ...rest } = value.fields;
    return { key: key.toString('latin1'), value: bytes.toString('latin1'), ...rest };
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
  return value;
};
const outcome = (act: () => unknown): unknown => {
  try {
    return plain(act());
  } catch (error) {
    if (error instanceof MvccError) return error.reason;
    throw error;
  }
};

const RUNS = 60;
const STEPS = 120;

test('random histories give what the model gives, across compactions and restarts', async () => {
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const random = seededRandom(seed);
    const clock = new FakeClock();
    const database = new MemoryDatabase();
    let backend: Backend = database.open({ clock });
    let store = await Store.open({ backend, clock, pause: noPause });
    const model = new ModelStore();
    for (let step = 0; step < STEPS; step += 1) {
      const where = `seed ${seed}, step ${step}`;
      const action = random.below(20);
      if (action < 6) {
        const request = randomPut(random);
        expect(
          outcome(() => store.put(request)),
          where,
        ).toEqual(model.put(request));
      } else if (action < 8) {
        const request = randomDelete(random);
        expect(
          outcome(() => store.deleteRange(request)),
          where,
        ).toEqual(model.deleteRange(request));
      } else if (action < 12) {
        const request = randomTxn(random, model.revision);
        expect(
          outcome(() => store.txn(request)),
          where,
        ).toEqual(model.txn(request));
      } else if (action < 17) {
        const request = randomRead(random, model.revision);
        expect(
          outcome(() => store.range(request)),
          where,
        ).toEqual(model.range(request));
      } else if (action < 18) {
        const revision = random.below(model.revision + 2);
        const result = outcome(() => (store.compact(revision), 'ok'));
        expect(result, where).toEqual(model.compact(revision));
      } else if (action < 19) {
        await clock.advance(random.below(200));
      } else {
        store.close();
        await backend.close();
        backend = database.open({ clock });
        store = await Store.open({ backend, clock, pause: noPause });
      }
      expect([store.revision, store.compactRevision], where).toEqual([model.revision, model.compactRevision]);
    }
    store.close();
    await backend.close();
  }
});

test('applying the log again after a crash gives the state that was lost, at every point of a run', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = seededRandom(seed);
    const clock = new FakeClock();
    const database = new MemoryDatabase();
    const log: ((store: Store) => unknown)[] = [];
    const apply = (store: Store, backend: Backend, index: number): void => {
      (log[index - 1] as (store: Store) => unknown)(store);
      backend.setConsistentIndex(index, 1);
    };
    let backend = database.open({ clock });
    let store = await Store.open({ backend, clock, pause: noPause });
    for (let index = 1; index <= 80; index += 1) {
      const put = randomPut(random);
      const txn = randomTxn(random, store.revision);
      const compact = random.below(store.revision + 1);
      const kind = random.below(8);
      log.push((target) =>
        outcome(() =>
          kind < 3 ? target.put(put) : kind < 7 ? target.txn(txn) : void target.compact(compact).done,
        ),
      );
      apply(store, backend, index);
      if (random.below(6) === 0) await clock.advance(random.below(150));
      if (random.below(15) === 0) {
        database.crash();
        backend = database.open({ clock });
        store = await Store.open({ backend, clock, pause: noPause });
        for (let i = backend.consistentIndex + 1; i <= index; i += 1) apply(store, backend, i);
      }
    }
    const reference = new MemoryDatabase().open({ clock });
    const whole = await Store.open({ backend: reference, clock, pause: noPause });
    for (let i = 1; i <= 80; i += 1) apply(whole, reference, i);
    await clock.advance(10_000);
    const hashes = [store, whole].map((each) => each.hashKv(0));
    await clock.advance(1000);
    const [found, expected] = await Promise.all(hashes);
    expect([found, store.compactRevision], `seed ${seed}`).toEqual([expected, whole.compactRevision]);
    expect(backend.consistentIndex).toBe(80);
  }
});

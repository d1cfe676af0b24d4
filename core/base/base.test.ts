import { expect, test } from 'vitest';
import { BoundedQueue } from './bounded-queue.ts';
import { DisposableStore } from './disposable.ts';
import { seededRandom } from './random.ts';

test('a store closes in reverse order, once, and closes late arrivals immediately', () => {
  const closed: string[] = [];
  const store = new DisposableStore();
  store.defer(() => closed.push('first'));
  store.defer(() => closed.push('second'));
  store.dispose();
  store.dispose();
  store.defer(() => closed.push('late'));
  expect(closed).toEqual(['second', 'first', 'late']);
});

test('one resource that fails to close does not keep the others open', () => {
  const closed: string[] = [];
  const store = new DisposableStore();
  store.defer(() => closed.push('first'));
  store.defer(() => {
    throw new Error('stuck');
  });
  expect(() => store.dispose()).toThrow(AggregateError);
  expect(closed).toEqual(['first']);
});

test('a full queue that drops keeps the newest and counts what it lost', async () => {
  const queue = new BoundedQueue<number>({ itemsMax: 3, overflow: 'drop-oldest' });
  for (let i = 0; i < 10; i += 1) queue.push(i);
  queue.close();
  const batches: number[][] = [];
  for await (const batch of queue.batches(2)) batches.push(batch);
  expect({ batches, dropped: queue.droppedCount }).toEqual({ batches: [[7, 8], [9]], dropped: 7 });
});

test('a full queue that refuses says so to the source', () => {
  const queue = new BoundedQueue<number>({ itemsMax: 1, overflow: 'refuse' });
  expect([queue.push(1), queue.push(2)]).toEqual([true, false]);
});

test('a waiting consumer gets what is pushed later', async () => {
  const queue = new BoundedQueue<string>({ itemsMax: 4, overflow: 'refuse' });
  const next = queue.batches(4).next();
  queue.push('a');
  expect((await next).value).toEqual(['a']);
});

test('the same seed replays the same numbers, all within bounds', () => {
  const draw = (seed: number): number[] => {
    const random = seededRandom(seed);
    return Array.from({ length: 1000 }, () => random.below(7));
  };
  expect(draw(41)).toEqual(draw(41));
  expect(draw(41)).not.toEqual(draw(42));
  expect(new Set(draw(41))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
});

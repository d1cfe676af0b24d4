import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { settle } from '../testing/index.ts';
import { bucketLimiter, controllerLimiter, exponentialLimiter } from './rate-limiters.ts';
import { runWorkers } from './run-workers.ts';
import { WorkQueue } from './work-queue.ts';

const queueWith = () => {
  const clock = manualClock();
  const registry = new Registry();
  return { clock, registry, queue: new WorkQueue({ name: 'q', clock, registry }) };
};
const quiet = (): Promise<void> => settle(() => 0);

test('an item added many times waits once', async () => {
  const { queue } = queueWith();
  for (let i = 0; i < 3; i += 1) queue.add('a');
  queue.add('b');
  expect([queue.size, await queue.take(), await queue.take(), queue.size]).toEqual([2, 'a', 'b', 0]);
});

test('an item added while it is worked on comes again, after it is done', async () => {
  const { queue } = queueWith();
  queue.add('a');
  await queue.take();
  queue.add('a');
  queue.add('a');
  expect(queue.size).toBe(0);
  queue.done('a');
  expect([queue.size, await queue.take()]).toEqual([1, 'a']);
  queue.done('a');
  expect(queue.size).toBe(0);
});

test('higher priorities go first, and an item moves up but never down', async () => {
  const { queue } = queueWith();
  for (const item of ['a', 'b', 'c']) queue.add(item);
  queue.add('c', { priority: 10 });
  queue.add('c', { priority: -5 });
  queue.add('d', { priority: -5 });
  expect([await queue.take(), await queue.take(), await queue.take(), await queue.take()]).toEqual([
    'c',
    'a',
    'b',
    'd',
  ]);
});

test('of several delays the earliest counts', () => {
  const { clock, queue } = queueWith();
  queue.addAfter('a', 1000);
  queue.addAfter('a', 100);
  queue.addAfter('a', 5000);
  clock.advance(99);
  expect(queue.size).toBe(0);
  clock.advance(1);
  expect([queue.size, clock.pendingCount]).toEqual([1, 0]);
});

test('failures of one item double from 5 ms to 1000 s, and all together are held to 10 a second after 100', () => {
  const limiter = exponentialLimiter();
  const delays = Array.from({ length: 20 }, () => limiter.when('a'));
  expect([delays[0], delays[1], delays[10], delays[19]]).toEqual([5, 10, 5120, 1_000_000]);
  limiter.forget('a');
  expect([limiter.retriesOf('a'), limiter.when('a')]).toEqual([0, 5]);
  const bucket = bucketLimiter(manualClock());
  const waits = Array.from({ length: 102 }, (_, i) => bucket.when(String(i)));
  expect(waits.slice(99)).toEqual([0, 100, 200]);
  expect(controllerLimiter(manualClock()).when('a')).toBe(5);
});

test('a queue that is shut down hands out what waits, takes nothing new, and drains when all is done', async () => {
  const { clock, queue } = queueWith();
  queue.add('a');
  queue.addAfter('late', 10);
  let drained = false;
  const draining = queue.drain().then(() => (drained = true));
  queue.add('b');
  expect([await queue.take(), await queue.take(), clock.pendingCount]).toEqual(['a', undefined, 0]);
  await quiet();
  expect(drained).toBe(false);
  queue.done('a');
  await draining;
});

test('workers retry failures with back-off, requeue on demand, and stop when aborted', async () => {
  const { clock, queue } = queueWith();
  const stop = new AbortController();
  const seen: string[] = [];
  const done = runWorkers({
    queue,
    workers: 2,
    log: silentLog,
    signal: stop.signal,
    handle: async (key) => {
      await Promise.resolve();
      seen.push(`${key}@${clock.monotonicMs()}`);
      if (key === 'fails' && seen.length < 3) throw new Error('not yet');
      return key === 'later' && seen.length < 6 ? { requeueAfterMs: 50 } : undefined;
    },
  });
  queue.add('fails');
  for (let i = 0; i < 15; i += 1) {
    await quiet();
    clock.advance(1);
  }
  queue.add('later');
  for (let i = 0; i < 20; i += 1) {
    await quiet();
    clock.advance(10);
  }
  stop.abort();
  await done;
  expect(seen).toEqual(['fails@0', 'fails@5', 'fails@15', 'later@15', 'later@65', 'later@115']);
});

test('a key that keeps failing is dropped on request', async () => {
  const { clock, queue } = queueWith();
  const stop = new AbortController();
  let tries = 0;
  const done = runWorkers({
    queue,
    workers: 1,
    log: silentLog,
    signal: stop.signal,
    retriesMax: 3,
    handle: () => Promise.reject(new Error(`try ${(tries += 1)}`)),
  });
  queue.add('a');
  for (let i = 0; i < 20; i += 1) {
    await quiet();
    clock.advance(10);
  }
  stop.abort();
  await done;
  expect([tries, queue.retriesOf('a')]).toEqual([4, 0]);
});

test('metrics say what waits, what works, and for how long', async () => {
  const { clock, registry, queue } = queueWith();
  queue.add('a');
  queue.add('b');
  clock.advance(1000);
  await queue.take();
  clock.advance(2000);
  queue.addRateLimited('c');
  const text = registry.expose();
  for (const line of [
    'workqueue_depth{name="q"} 1',
    'workqueue_adds_total{name="q"} 2',
    'workqueue_queue_duration_seconds_sum{name="q"} 1',
    'workqueue_unfinished_work_seconds{name="q"} 2',
    'workqueue_longest_running_processor_seconds{name="q"} 2',
    'workqueue_retries_total{name="q"} 1',
  ])
    expect(text).toContain(`${line}\n`);
  queue.done('a');
  expect(registry.expose()).toContain('workqueue_work_duration_seconds_sum{name="q"} 2\n');
});

test('whatever is added and done in whatever order, no item is lost or worked on twice at the same time', async () => {
  const step = fc.tuple(fc.constantFrom('add', 'take', 'done', 'later'), fc.constantFrom('a', 'b', 'c'));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, queue } = queueWith();
      const dirty = new Set<string>();
      const working = new Set<string>();
      for (const [what, item] of steps) {
        if (what === 'add') {
          queue.add(item);
          dirty.add(item);
        } else if (what === 'later') {
          queue.addAfter(item, 5);
          dirty.add(item);
        } else if (what === 'done') {
          queue.done(item);
          working.delete(item);
        } else if (queue.size > 0) {
          const taken = (await queue.take())!;
          expect(working.has(taken)).toBe(false);
          working.add(taken);
          dirty.delete(taken);
        }
      }
      for (const item of working) queue.done(item);
      clock.advance(5);
      while (queue.size > 0) {
        const taken = (await queue.take())!;
        dirty.delete(taken);
        queue.done(taken);
      }
      expect([...dirty]).toEqual([]);
    }),
  );
});

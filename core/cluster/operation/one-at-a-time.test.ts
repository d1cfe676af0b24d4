import { expect, test } from 'vitest';
import { verbatim } from '../../contract/index.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { Hold } from './hold.ts';
import { OneAtATime } from './one-at-a-time.ts';

const LIMIT_MS = 1_000;

test('a second operation is refused with the name of the first, and begins after it', async () => {
  const operations = new OneAtATime();
  let end: () => void = () => undefined;
  const first = operations.run(verbatim('a restore'), () => new Promise<void>((resolve) => (end = resolve)));
  await expect(operations.run(verbatim('an upgrade'), () => Promise.resolve(1))).rejects.toMatchObject({
    reason: 'Busy',
    message: expect.stringContaining('a restore is in progress'),
  });
  end();
  await first;
  expect(await operations.run(verbatim('an upgrade'), () => Promise.resolve(1))).toBe(1);
});

test('waiting for the end of an operation is limited', async () => {
  const clock = manualClock();
  const operations = new OneAtATime();
  let end: () => void = () => undefined;
  void operations.run(verbatim('a restore'), () => new Promise<void>((resolve) => (end = resolve)));
  const late = operations.idle(clock, LIMIT_MS);
  clock.advance(LIMIT_MS);
  await late;
  const ended = operations.idle(clock, LIMIT_MS);
  end();
  await ended;
  await operations.idle(clock, LIMIT_MS);
});

test('an operation that is held ends with its cluster', async () => {
  const life = new AbortController();
  const hold = new Hold(life.signal);
  hold.pause();
  const held = hold.checkpoint();
  life.abort(new Error('the cluster is being stopped'));
  await expect(held).rejects.toThrow('the cluster is being stopped');
});

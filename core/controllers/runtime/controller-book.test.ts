import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { WorkQueue } from '../../client/index.ts';
import { ControllerBook, FAILING_MAX, RECENT_MAX } from './controller-book.ts';

const open = () => {
  const clock = manualClock();
  const book = new ControllerBook(['deployment-controller'], clock);
  const queue = new WorkQueue({ name: 'deployment', clock });
  const record = book.recordOf('deployment-controller')!;
  const fail = (key: string, text = 'denied') =>
    record.observe(queue, key, () => Promise.reject(new Error(text))).catch(() => undefined);
  return { clock, book, queue, record, fail, now: () => book.view().controllers[0]! };
};

test('a turn that failed is listed with its object until one succeeds', async () => {
  const { record, queue, fail, now, clock } = open();
  await fail('default/web', 'quota exceeded');
  expect(now().failing.map(({ key, error }) => [key, error])).toEqual([['default/web', 'quota exceeded']]);
  clock.advance(1000);
  await record.observe(queue, 'default/web', () => Promise.resolve());
  expect([now().failing, now().recent.map(({ outcome }) => outcome)]).toEqual([[], ['done', 'failed']]);
});

test('a reconciliation is listed while it runs', async () => {
  const { record, queue, now } = open();
  let finish = (): void => undefined;
  const turn = record.observe(queue, 'default/slow', () => new Promise((resolve) => (finish = resolve)));
  expect(now().working.map(({ key }) => key)).toEqual(['default/slow']);
  finish();
  await turn;
  expect(now().working).toEqual([]);
});

test('the history is bounded and newest first', async () => {
  const { fail, now, clock } = open();
  for (let turn = 0; turn < FAILING_MAX + 10; turn += 1) {
    clock.advance(1);
    await fail(`default/${turn}`, 'x'.repeat(5000));
  }
  expect([
    now().recent.length,
    now().failing.length,
    now().recent[0]?.key,
    now().recent[0]?.error.length,
  ]).toEqual([RECENT_MAX, FAILING_MAX, `default/${FAILING_MAX + 9}`, 1024]);
});

test('a term begins with filling caches and forgets the one before', async () => {
  const { book, fail, now } = open();
  const phases = [now().phase];
  await fail('default/web');
  book.begin(() => []);
  phases.push(now().phase);
  expect(now().failing).toEqual([]);
  book.run();
  phases.push(now().phase);
  book.end();
  expect([...phases, now().phase, book.view().isLeading]).toEqual([
    'standby',
    'syncing',
    'running',
    'standby',
    false,
  ]);
});

import { expect, test } from 'vitest';
import { manualClock } from '../../../core/base/manual-clock.ts';
import {
  OPERATIONS_MAX,
  say,
  verbatim,
  type ClusterAction,
  type Operation,
  type Said,
} from '../../../core/contract/index.ts';
import type { StepReport } from '../../../core/cluster/operation/step-report.ts';
import { OperationBook } from './operation-book.ts';

const KILL: ClusterAction = { kind: 'host.kill', host: 'cp-1' };
const DRAIN: ClusterAction = {
  kind: 'node.drain',
  node: 'worker-1',
  ignoreDaemonSets: true,
  deleteEmptyDirData: false,
  force: false,
  gracePeriodSeconds: null,
};

const open = () => {
  const clock = manualClock();
  const ended: Operation[] = [];
  const book = new OperationBook({ clock, onLongEnd: (operation) => ended.push(operation) });
  const begin = (
    run: (report: StepReport, signal: AbortSignal) => Promise<Said>,
    action: ClusterAction = KILL,
    canPause = true,
  ): string => book.begin({ action, command: `do ${action.kind}`, canPause, run });
  const view = (id: string): Operation => book.list().find((one) => one.id === id)!;
  return { clock, ended, book, begin, view };
};

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('steps go from waiting to done, and the outcome is one sentence', async () => {
  const { begin, view } = open();
  const id = begin(async (report) => {
    report.plan([
      { id: 'a', title: verbatim('First') },
      { id: 'b', title: verbatim('Second') },
    ]);
    report.begin('a');
    report.end('a', verbatim('went well'));
    return verbatim('Done.');
  });
  await settled();
  expect(view(id)).toMatchObject({
    state: 'done',
    message: verbatim('Done.'),
    canPause: false,
    steps: [
      { id: 'a', state: 'done', detail: verbatim('went well') },
      { id: 'b', state: 'skipped', detail: null },
    ],
  });
});

test('a failure marks the step that ran, and says why', async () => {
  const { begin, view } = open();
  const id = begin(async (report) => {
    report.plan([{ id: 'a', title: verbatim('First') }]);
    report.begin('a');
    throw new Error('the disk is full');
  });
  await settled();
  expect(view(id)).toMatchObject({
    state: 'failed',
    message: verbatim('the disk is full'),
    steps: [{ state: 'failed', detail: verbatim('the disk is full') }],
  });
});

test('a second one is refused by name while the first runs; a drain or a fault is not', () => {
  const { begin, book } = open();
  const never = () => new Promise<Said>(() => undefined);
  begin(never);
  expect(() => begin(never)).toThrow('"do host.kill" is in progress; wait until it finishes');
  begin(never, DRAIN);
  begin(never, { kind: 'fault.isolate', host: 'cp-1' });
  expect(book.list().map(({ action }) => action.kind)).toEqual(['fault.isolate', 'node.drain', 'host.kill']);
  expect(book.running?.action.kind).toBe('host.kill');
});

test('a pause takes effect at the next checkpoint, and continuing ends it', async () => {
  const { begin, book, view } = open();
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const id = begin(async (report) => {
    await reached;
    await report.checkpoint();
    return verbatim('Went on.');
  });
  book.pause(id, true);
  expect(view(id)).toMatchObject({ state: 'running', message: say('operation.willPause') });
  reach();
  await settled();
  expect(view(id).state).toBe('paused');
  book.pause(id, false);
  await settled();
  expect(view(id)).toMatchObject({ state: 'done', message: verbatim('Went on.') });
});

test('an operation aborted while paused fails with the reason', async () => {
  const { begin, book, view } = open();
  const id = begin(async (report) => {
    await report.checkpoint();
    return verbatim('');
  });
  await settled();
  const held = begin(async (report) => {
    await settled();
    await report.checkpoint();
    return verbatim('');
  });
  book.pause(held, true);
  await settled();
  await settled();
  book.abort(say('failure.clusterStopped'));
  await settled();
  expect([view(id).state, view(held).state, view(held).message]).toEqual([
    'done',
    'failed',
    say('failure.clusterStopped'),
  ]);
});

test('only an end that was long in coming is a notice', async () => {
  const { begin, clock, ended } = open();
  begin(() => Promise.resolve(verbatim('Soon.')));
  await settled();
  let finish = (_text: Said): void => undefined;
  begin(() => new Promise((resolve) => (finish = resolve)));
  clock.advance(5_001);
  finish(verbatim('Late.'));
  await settled();
  expect(ended.map(({ message }) => message)).toEqual([verbatim('Late.')]);
});

test('the book keeps the newest and forgets the oldest that is over', async () => {
  const { begin, book } = open();
  const first = begin(() => Promise.resolve(verbatim('1')));
  for (let n = 1; n <= OPERATIONS_MAX; n += 1) {
    await settled();
    begin(() => Promise.resolve(verbatim(String(n))));
  }
  const ids = book.list().map(({ id }) => id);
  expect([ids.length, ids.includes(first)]).toEqual([OPERATIONS_MAX, false]);
});

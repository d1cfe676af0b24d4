import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { ACTION, type ClusterEvent } from '../framework/cluster-event.ts';
import type { Plugin } from '../framework/plugin.ts';
import { unresolvable } from '../framework/status.ts';
import { schedulerMetrics } from '../metrics/metrics.ts';
import { podInfoOf } from '../model/pod-info.ts';
import { prioritySort } from '../plugins/priority-sort/priority-sort.ts';
import { makePod } from '../testing/objects.ts';
import { QueueingHints } from './queueing-hints.ts';
import { SchedulingQueue, UNSCHEDULABLE_STAY_MAX_MS } from './scheduling-queue.ts';

const NODE_ADD: ClusterEvent = { resource: 'Node', action: ACTION.add, label: 'NodeAdd' };
const POD_DELETE: ClusterEvent = {
  resource: 'AssignedPod',
  action: ACTION.delete,
  label: 'AssignedPodDelete',
};

const fit: Plugin = {
  name: 'Fit',
  eventsToRegister: () => [
    {
      resource: 'Node',
      action: ACTION.add,
      hint: (_, __, node) => (node === 'small' ? 'QueueSkip' : 'Queue'),
    },
  ],
};

const makeQueue = () => {
  const clock = manualClock();
  const gated = new Set<string>();
  const queue = new SchedulingQueue({
    clock,
    metrics: schedulerMetrics(),
    less: (a, b) => prioritySort().less!(a, b),
    hints: new QueueingHints([{ profileName: 'default-scheduler', all: () => [fit] }]),
    preEnqueue: ({ uid }) => (gated.has(uid) ? unresolvable('Gates', 'gated') : undefined),
    podInitialBackoffSeconds: 1,
    podMaxBackoffSeconds: 10,
  });
  const add = (name: string, priority = 0): void =>
    queue.add(podInfoOf(makePod(name, { spec: { priority } })));
  /** Pops a pod and puts it back as one that `plugins` rejected. */
  const failNext = async (plugins: readonly string[]): Promise<void> => {
    const queued = (await queue.pop())!;
    queued.unschedulablePlugins = new Set(plugins);
    queue.addUnschedulable(queued);
  };
  const popName = async (): Promise<string | undefined> => (await queue.pop())?.info.pod.metadata.name;
  return { clock, queue, gated, add, failNext, popName };
};

test('the most important pod is popped first, then who waits longer', async () => {
  const { queue, clock, add, popName } = makeQueue();
  add('b', 5);
  clock.advance(1);
  add('c', 5);
  add('a', 9);
  expect([await popName(), await popName(), await popName()]).toEqual(['a', 'b', 'c']);
  queue.close();
});

test('back-off doubles from one second to ten', async () => {
  const { queue, clock, add, failNext } = makeQueue();
  add('a');
  const waits: number[] = [];
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await failNext([]);
    let waitedMs = 0;
    while (queue.counts.active === 0) {
      clock.advance(100);
      waitedMs += 100;
      queue.flushBackoffCompleted();
    }
    waits.push(waitedMs);
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('only an event that concerns the plugin that rejected it brings a pod back', async () => {
  const { queue, clock, add, failNext } = makeQueue();
  add('a');
  await failNext(['Fit']);
  clock.advance(2000);
  queue.moveAll(POD_DELETE, 'x', undefined);
  queue.moveAll(NODE_ADD, undefined, 'small');
  expect(queue.counts).toMatchObject({ active: 0, unschedulable: 1 });
  queue.moveAll(NODE_ADD, undefined, 'large');
  expect(queue.counts).toMatchObject({ active: 1, unschedulable: 0 });
});

test('an event during the cycle of a pod is not lost', async () => {
  const { queue, add } = makeQueue();
  add('a');
  const queued = (await queue.pop())!;
  queue.moveAll(NODE_ADD, undefined, 'large');
  queued.unschedulablePlugins = new Set(['Fit']);
  queue.addUnschedulable(queued);
  expect(queue.counts).toMatchObject({ backoff: 1, unschedulable: 0 });
});

test('no one stays unschedulable longer than five minutes', async () => {
  const { queue, clock, add, failNext } = makeQueue();
  add('a');
  await failNext(['Fit']);
  clock.advance(UNSCHEDULABLE_STAY_MAX_MS);
  queue.flushUnschedulable();
  expect(queue.counts.unschedulable).toBe(1);
  clock.advance(1);
  queue.flushUnschedulable();
  expect(queue.counts).toMatchObject({ active: 1, unschedulable: 0 });
});

test('a gated pod is counted as gated and activated only once the gate opens', () => {
  const { queue, gated, add } = makeQueue();
  gated.add('uid-default-a');
  add('a');
  queue.activate(['uid-default-a']);
  expect(queue.counts).toEqual({ active: 0, backoff: 0, unschedulable: 0, gated: 1 });
  gated.clear();
  queue.activate(['uid-default-a']);
  expect(queue.counts).toMatchObject({ active: 1, gated: 0 });
});

test('a pop that waits is answered by the next pod, and by nothing once closed', async () => {
  const { queue, add } = makeQueue();
  const waiting = queue.pop();
  add('a');
  expect((await waiting)?.attempts).toBe(1);
  const last = queue.pop();
  queue.close();
  expect(await last).toBeUndefined();
});

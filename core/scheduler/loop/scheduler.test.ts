import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { conflict } from '../../api/meta/status-errors.ts';
import { InformerFactory, NODE, POD, type EventRecorder, type Kind } from '../../client/index.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { DEFAULT_CONFIGURATION, type SchedulerConfiguration } from '../config/configuration.ts';
import type { Node, Pod } from '../model/objects.ts';
import { LABEL_MIN_MEMBER, LABEL_POD_GROUP } from '../plugins/coscheduling/coscheduling.ts';
import { makeNode, makePod, type PodOptions } from '../testing/objects.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

const pods = POD as Kind;
const nodes = NODE as Kind;
const object = (value: Node | Pod): KubernetesObject => value as unknown as KubernetesObject;

interface World {
  readonly api: FakeApi;
  readonly scheduler: Scheduler;
  readonly events: string[];
  addNode(name: string, cpu?: string): void;
  addPod(name: string, options?: PodOptions): void;
  /** Which pod is on which node. */
  placement(): Record<string, string>;
  pod(name: string): Pod;
  /** What a kubelet does with a pod that is being deleted. */
  finishDeletions(): void;
}

let stopWorld: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stopWorld?.();
  stopWorld = undefined;
});

const start = async (
  options: {
    config?: Partial<SchedulerConfiguration>;
    before?: (world: Omit<World, 'scheduler'>) => void;
  } = {},
): Promise<World> => {
  const api = new FakeApi();
  const events: string[] = [];
  const recorder: EventRecorder = {
    event: (about, type, reason, message) =>
      events.push(`${type} ${reason} ${about.metadata?.name}: ${message}`),
  };
  const list = (): Pod[] => api.list(pods) as unknown as Pod[];
  const world = {
    api,
    events,
    addNode: (name: string, cpu = '1') =>
      void api.seed(nodes, object(makeNode(name, { allocatable: { cpu } }))),
    addPod: (name: string, podOptions: PodOptions = {}) =>
      void api.seed(pods, object(makePod(name, { requests: { cpu: '600m' }, ...podOptions }))),
    placement: () =>
      Object.fromEntries(list().map(({ metadata, spec }) => [metadata.name ?? '', spec.nodeName ?? ''])),
    pod: (name: string) => api.get(pods, name, 'default') as unknown as Pod,
    finishDeletions: () => {
      for (const { metadata } of list())
        if (metadata.deletionTimestamp) api.remove(pods, metadata.name ?? '', metadata.namespace);
    },
  };
  options.before?.(world);
  const client = api.client();
  const informers = new InformerFactory({
    client,
    clock: api.clock,
    random: api.random,
    log: silentLog,
    freeze: true,
  });
  const scheduler = createScheduler({
    client,
    informers,
    events: recorder,
    clock: api.clock,
    random: api.random,
    log: silentLog,
    config: { ...DEFAULT_CONFIGURATION, ...options.config },
  });
  const controller = new AbortController();
  const running = scheduler.run(controller.signal);
  stopWorld = async () => {
    controller.abort();
    await running;
    await informers.stop();
  };
  await api.settle();
  return { ...world, scheduler };
};

test('a pod is bound to a node that has room, and an event says so', async () => {
  const world = await start();
  world.addNode('n1');
  world.addPod('a');
  await world.api.settle();
  expect(world.placement()).toEqual({ a: 'n1' });
  expect(world.events).toContain('Normal Scheduled a: Successfully assigned default/a to n1');
});

test('pods that were there before the scheduler started are counted before the first decision', async () => {
  const world = await start({
    before(before) {
      before.addNode('n1');
      before.addNode('n2');
      before.addPod('old', { requests: { cpu: '900m' }, spec: { nodeName: 'n1' } });
      before.addPod('new');
    },
  });
  expect(world.placement()).toEqual({ old: 'n1', new: 'n2' });
});

test('a pod that fits nowhere says why in event and condition, and is bound when a node comes', async () => {
  const world = await start();
  world.addNode('n1', '500m');
  await world.api.settle();
  world.addPod('a');
  await world.api.settle();
  const message =
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
  expect(world.events).toEqual([`Warning FailedScheduling a: ${message}`]);
  expect(world.pod('a').status?.conditions).toMatchObject([
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message },
  ]);
  world.addNode('n2', '200m');
  await world.api.advance(3000, 500);
  expect(world.placement()).toEqual({ a: '' });
  world.addNode('n3');
  await world.api.advance(3000, 500);
  expect(world.placement()).toEqual({ a: 'n3' });
});

test('a pod of another scheduler is left alone', async () => {
  const world = await start();
  world.addNode('n1');
  world.addPod('a', { spec: { schedulerName: 'other' } });
  await world.api.advance(5000, 500);
  expect([world.placement(), world.events]).toEqual([{ a: '' }, []]);
});

test('a pod behind a gate waits until the gate is gone', async () => {
  const world = await start();
  world.addNode('n1');
  world.addPod('a', { spec: { schedulingGates: [{ name: 'example.com/wait' }] } });
  await world.api.advance(5000, 500);
  expect([world.placement(), world.events]).toEqual([{ a: '' }, []]);
  world.api.edit(pods, 'a', (pod) => void Object.assign(pod['spec'] as object, { schedulingGates: [] }));
  await world.api.advance(2000, 500);
  expect(world.placement()).toEqual({ a: 'n1' });
});

test('a refused binding gives the room back and the pod is tried again', async () => {
  const world = await start();
  world.addNode('n1');
  world.api.failNext(
    { verb: 'create', plural: 'pods', subresource: 'binding' },
    conflict({ group: '', resource: 'pods/binding' }, 'a', 'try again'),
  );
  world.addPod('a');
  await world.api.settle();
  expect(world.placement()).toEqual({ a: '' });
  await world.api.advance(2000, 500);
  expect(world.placement()).toEqual({ a: 'n1' });
  expect(world.events.filter((line) => line.startsWith('Normal Scheduled'))).toHaveLength(1);
});

test('a pod that another scheduler bound in the meantime is not bound again', async () => {
  const world = await start();
  world.addNode('n1');
  world.addNode('n2');
  const release = world.api.intercept((request) => {
    if (request.subresource !== 'binding') return;
    if (world.pod('a').spec.nodeName) return;
    world.api.edit(pods, 'a', (pod) => void Object.assign(pod['spec'] as object, { nodeName: 'n2' }));
  });
  world.addPod('a');
  await world.api.advance(15_000, 500);
  release.dispose();
  expect(world.placement()).toEqual({ a: 'n2' });
  expect(world.scheduler.explanations.list({ name: 'a' })).toHaveLength(1);
});

test('a more important pod takes the place of a less important one', async () => {
  const world = await start();
  world.addNode('n1');
  world.addPod('low', { spec: { priority: 1 } });
  await world.api.settle();
  world.addPod('high', { spec: { priority: 1000 } });
  await world.api.settle();
  expect(world.pod('low').status?.conditions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }),
    ]),
  );
  expect(world.pod('low').metadata.deletionTimestamp).toBeDefined();
  expect(world.pod('high').status?.nominatedNodeName).toBe('n1');
  world.finishDeletions();
  await world.api.advance(3000, 500);
  expect(world.placement()).toEqual({ high: 'n1' });
  expect(world.events).toContain(
    `Normal Preempted low: Preempted by pod ${world.pod('high').metadata.uid} on node n1`,
  );
});

test('room that is being cleared for a nominated pod is not given to a lesser one', async () => {
  const world = await start();
  world.addNode('n1');
  world.addPod('low', { spec: { priority: 1 } });
  await world.api.settle();
  world.addPod('high', { spec: { priority: 1000 } });
  await world.api.settle();
  world.finishDeletions();
  world.addPod('late', { spec: { priority: 2 } });
  await world.api.advance(3000, 500);
  expect(world.placement()).toEqual({ high: 'n1', late: '' });
});

const gangConfig = {
  profiles: [
    {
      schedulerName: 'default-scheduler',
      plugins: { MultiPoint: { enabled: [{ name: 'Coscheduling' }] } },
    },
  ],
};
const gang = { labels: { [LABEL_POD_GROUP]: 'g', [LABEL_MIN_MEMBER]: '3' } };

test('a gang is bound together or not at all', async () => {
  const world = await start({ config: gangConfig });
  for (const name of ['n1', 'n2']) world.addNode(name);
  for (const name of ['g0', 'g1', 'g2']) world.addPod(name, gang);
  await world.api.advance(20_000, 500);
  expect(world.placement()).toEqual({ g0: '', g1: '', g2: '' });
  world.addNode('n3');
  await world.api.advance(30_000, 500);
  expect(Object.values(world.placement()).sort()).toEqual(['n1', 'n2', 'n3']);
});

test('stopping while a gang waits writes nothing about its pods', async () => {
  const world = await start({ config: gangConfig });
  world.addNode('n1', '4');
  world.addPod('g0', gang);
  world.addPod('g1', gang);
  world.addPod('g2', { ...gang, spec: { schedulingGates: [{ name: 'example.com/wait' }] } });
  await world.api.settle();
  world.api.forgetRequests();
  await stopWorld?.();
  stopWorld = undefined;
  expect([world.api.writes(), world.events, world.placement()]).toEqual([[], [], { g0: '', g1: '', g2: '' }]);
});

test('a half-placed gang keeps no one else out', async () => {
  const world = await start({ config: gangConfig });
  for (const name of ['n1', 'n2']) world.addNode(name);
  for (const name of ['g0', 'g1', 'g2']) world.addPod(name, gang);
  await world.api.advance(20_000, 500);
  world.addPod('single');
  await world.api.advance(20_000, 500);
  expect(world.placement()['single']).toMatch(/^n[12]$/);
});

test('a question about a pod is answered and nothing is written', async () => {
  const world = await start();
  world.addNode('n1');
  world.addNode('n2', '100m');
  await world.api.settle();
  world.api.forgetRequests();
  const answer = await world.scheduler.whatIf(makePod('asked', { requests: { cpu: '600m' } }));
  expect(answer).toMatchObject({
    result: 'scheduled',
    nodeName: 'n1',
    nodeCount: 2,
    feasibleNodeCount: 1,
    rejections: [{ plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'], nodes: ['n2'] }],
  });
  await world.api.advance(5000, 500);
  expect([world.api.writes(), world.placement()]).toEqual([[], {}]);
});

test('attempts are explained with raw, normalised and weighted scores', async () => {
  const world = await start();
  world.addNode('n1', '4');
  world.addNode('n2', '2');
  await world.api.settle();
  world.addPod('a');
  await world.api.settle();
  const [attempt] = world.scheduler.explanations.list({ namespace: 'default', name: 'a' });
  expect(attempt).toMatchObject({ result: 'scheduled', attempt: 1, feasibleNodeCount: 2, nodeName: 'n1' });
  expect(attempt?.scores.map(({ node }) => node)).toEqual(['n1', 'n2']);
  expect(attempt?.scores[0]?.plugins).toContainEqual({
    name: 'TaintToleration',
    raw: 0,
    normalised: 100,
    weight: 3,
    weighted: 300,
  });
});

test('metrics count attempts under upstream names', async () => {
  const world = await start();
  world.addNode('n1');
  world.addPod('a');
  world.addPod('b');
  await world.api.settle();
  const text = world.scheduler.metrics.registry.expose();
  expect(text).toContain(
    'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1',
  );
  expect(text).toContain(
    'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1',
  );
  expect(text).toContain('scheduler_pending_pods{queue="unschedulable"} 1');
});

import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { userInfo, type UserInfo } from '../server/user.ts';
import {
  MANDATORY_LEVELS,
  MANDATORY_SCHEMAS,
  SUGGESTED_LEVELS,
  SUGGESTED_SCHEMAS,
} from '../bootstrap/flow-control-table.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { flowDebugStage } from './debug-stage.ts';
import { fairnessStage } from './fairness-stage.ts';
import { FlowController } from './flow-controller.ts';

const AUTHENTICATED = 'system:authenticated';
const account = (name: string): UserInfo =>
  userInfo(`system:serviceaccount:default:${name}`, ['system:serviceaccounts', AUTHENTICATED]);

const setup = (serverSeats = 10) => {
  const clock = manualClock();
  const metrics = new Registry();
  const controller = new FlowController({
    clock,
    serverSeats,
    initial: {
      levels: [...MANDATORY_LEVELS, ...SUGGESTED_LEVELS],
      schemas: [...MANDATORY_SCHEMAS, ...SUGGESTED_SCHEMAS],
    },
  });
  const stage = fairnessStage({ controller, metrics, clock, waitMs: 5_000, objectCount: () => 1000 });
  const ask = (user: UserInfo, url: string, method = 'GET') => {
    const fake = fakeContext({ url, method, user });
    return { ...fake, result: stage.run(fake.context) };
  };
  return { clock, metrics, controller, stage, ask };
};

const PODS = '/api/v1/namespaces/default/pods/a';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1';

test.each([
  ['an administrator', userInfo('root', ['system:masters', AUTHENTICATED]), PODS, 'exempt'],
  ['a lease of a node', userInfo('system:node:n1', ['system:nodes', AUTHENTICATED]), LEASE, 'node-high'],
  ['a service account', account('a'), PODS, 'workload-low'],
  ['anybody else', userInfo('alice', [AUTHENTICATED]), PODS, 'global-default'],
  ['a controller', userInfo('system:kube-controller-manager', [AUTHENTICATED]), PODS, 'workload-high'],
])('%s has its priority level', (_who, user, url, level) => {
  const { controller } = setup();
  const { context } = fakeContext({ url, user });
  expect(controller.classify(context.info, user).level.config.name).toBe(level);
});

test('a flood of one level leaves the seats of others alone, and is served as seats become free', async () => {
  const { ask } = setup();
  const flood = Array.from({ length: 40 }, () => ask(account('flood'), PODS));
  const executing = flood.filter(({ result }) => result === 'next');
  expect(executing.length).toBeLessThan(20);
  expect(ask(userInfo('system:node:n1', ['system:nodes', AUTHENTICATED]), LEASE, 'PUT').result).toBe('next');
  const results = await Promise.all(
    flood.map(async ({ result, context }) => {
      const passed = await result;
      context.finish();
      return passed;
    }),
  );
  expect(new Set(results)).toEqual(new Set(['next']));
});

test('a request that waits too long is rejected, and leaves its place', async () => {
  const { ask, clock, metrics } = setup(1);
  const first = ask(account('a'), PODS);
  const second = ask(account('a'), PODS);
  expect(first.result).toBe('next');
  clock.advance(5_000);
  expect([await second.result, second.sent.code, second.sent.headers.get('retry-after')]).toEqual([
    'done',
    429,
    '1',
  ]);
  expect(metrics.expose()).toContain(
    'apiserver_flowcontrol_rejected_requests_total{flow_schema="service-accounts",priority_level="workload-low",reason="time-out"} 1',
  );
});

test('seats are released when the response is ready, and those of a watch when it starts', async () => {
  const { ask, controller } = setup();
  const inUse = (): number => controller.levels.get('workload-low')!.queues.counts.seatsInUse;
  const read = ask(account('a'), PODS);
  await read.context.response.send(200, 'text/plain', 'x');
  const watch = ask(account('a'), '/api/v1/pods?watch=1&resourceVersion=5');
  const before = inUse();
  watch.context.response.begin(200);
  expect([before, inUse()]).toEqual([1, 0]);
});

test('a list takes seats by the number of objects, and not more than the level has', () => {
  const { ask, controller } = setup(600);
  ask(account('a'), '/api/v1/pods');
  expect(controller.levels.get('workload-low')!.queues.counts.seatsInUse).toBe(10);
});

test('sessions take no seats', () => {
  const { ask, controller } = setup();
  ask(account('a'), '/api/v1/namespaces/a/pods/b/exec', 'POST');
  expect(controller.levels.all().every(({ queues }) => queues.isIdle)).toBe(true);
});

test('a level borrows what others do not use', () => {
  const { ask, clock, controller } = setup(245);
  for (let at = 0; at < 300; at += 1) ask(account(`a${at % 50}`), PODS);
  const before = controller.levels.get('workload-low')!;
  clock.advance(10_000);
  const after = controller.levels.get('workload-low')!;
  expect([before.currentSeats <= before.nominalSeats + 1, after.currentSeats > before.nominalSeats]).toEqual([
    true,
    true,
  ]);
});

test('an object of the API changes the level that it names', () => {
  const { controller } = setup();
  const followers: Record<string, (object: never) => void> = {};
  controller.follow({
    follow(resource, follower) {
      followers[resource.resource] = (object) => follower.upsert(object);
      return { ready: Promise.resolve(), dispose: () => undefined };
    },
    dispose: () => undefined,
  });
  const object = {
    metadata: { name: 'workload-low', uid: 'u1' },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  };
  followers['prioritylevelconfigurations']!(object as never);
  expect(controller.levels.get('workload-low')!.config).toMatchObject({
    uid: 'u1',
    shares: 1,
    queuing: undefined,
  });
});

test.each(['dump_priority_levels', 'dump_queues', 'dump_requests?includeRequestDetails=1'])(
  'the page %s shows what waits',
  async (page) => {
    const { ask, controller, clock } = setup();
    ask(account('a'), PODS);
    const { context, sent } = fakeContext({ url: `/debug/api_priority_and_fairness/${page}` });
    expect(await flowDebugStage(controller, clock).run(context)).toBe('done');
    expect(sent.text()).toMatch(/^PriorityLevelName, +\w+/);
    expect(sent.text()).toContain('workload-low,');
  },
);

import { expect, test } from 'vitest';
import type { Node, Stored } from '../../../client/index.ts';
import { inEnglish, say, type CriticalMetric } from '../../../contract/index.ts';
import type { ClusterState, HostState } from '../../state/cluster-state.ts';
import { isEnd, type Observation } from '../draft.ts';
import { alertChanges } from './alert-changes.ts';
import { clusterChanges } from './cluster-changes.ts';
import { leaseChanges } from './lease-changes.ts';
import { nodeChanges } from './node-changes.ts';
import { quorumChanges } from './quorum-changes.ts';
import { rolloutChanges, type WorkloadView } from './rollout-changes.ts';

const told = (seen: readonly Observation[]): readonly string[] =>
  seen.map((one) =>
    isEnd(one)
      ? `end ${one.end}${one.severity ? ` ${one.severity}` : ''}`
      : `${one.kind}: ${inEnglish(one.text)}`,
  );

const component = (phase: 'ready' | 'exited', restarts = 0) => ({
  name: 'etcd',
  phase,
  version: '3.6.0',
  restarts,
  changedMs: 0,
  message: phase === 'exited' ? 'killed\nstack' : undefined,
  isRejected: false,
  heapBytes: undefined,
  utilization: undefined,
});
const host = (more: Partial<HostState> = {}): HostState => ({
  name: 'cp-1',
  role: 'control-plane',
  address: '127.1.0.1',
  phase: 'running',
  pid: 1,
  rssBytes: undefined,
  message: undefined,
  exitSignal: undefined,
  isEndWanted: false,
  restarts: 0,
  lastExit: undefined,
  nodes: ['cp-1'],
  components: [component('ready')],
  ...more,
});
const cluster = (of: HostState, more: Partial<ClusterState> = {}): ClusterState => ({
  phase: 'ready',
  kubernetesVersion: 'v1.36.0',
  startedAtMs: 0,
  readyAfterMs: 1,
  endpoint: '',
  warnings: [],
  hosts: [of],
  loadBalancer: undefined,
  faults: [],
  ...more,
});

test('hosts and components that come and go are reported once', () => {
  const killed = host({ phase: 'killed', isEndWanted: true, components: [] });
  const lastExit = { reason: say('exit.killed'), atMs: 5, isGivenUp: false };
  const crashed = host({ phase: 'killed', lastExit, components: [] });
  const restarted = host({ components: [component('ready', 1)] });
  expect(told(clusterChanges(cluster(host()), cluster(host())))).toEqual([]);
  expect(told(clusterChanges(cluster(host()), cluster(killed)))).toEqual([
    'hostKilled: Host cp-1 was killed',
  ]);
  expect(told(clusterChanges(cluster(host()), cluster(crashed)))[0]).toContain(
    'hostExited: Host cp-1 exited',
  );
  expect(told(clusterChanges(cluster(killed), cluster(host({ components: [] }))))).toEqual([
    'hostStarted: Host cp-1 started',
  ]);
  expect(told(clusterChanges(cluster(host()), cluster(restarted)))).toEqual([
    'componentExited: etcd on cp-1 exited',
  ]);
  expect(told(clusterChanges(cluster(host()), cluster(host({ components: [component('exited')] }))))).toEqual(
    ['componentExited: etcd on cp-1 exited: killed'],
  );
});

test('a stop of the whole cluster is not forty exits', () => {
  const stopped = cluster(host({ phase: 'stopped' }), { phase: 'stopping' });
  expect(clusterChanges(cluster(host()), stopped)).toEqual([]);
});

test('a fault is a span from its injection until it is healed', () => {
  const fault = { kind: 'slow-disk', host: 'cp-1', delayMs: 50, id: 'f1', text: '' } as const;
  const broken = cluster(host(), { faults: [fault] });
  expect(told(clusterChanges(cluster(host()), broken))).toEqual([
    'fault: Injected fault: every fsync on cp-1 takes 50 ms longer',
  ]);
  expect(told(clusterChanges(broken, cluster(host())))).toEqual(['end fault/f1']);
});

test('an election ends the time without a leader', () => {
  const event = { atMs: 1, member: 'cp-1', term: 3, durationMs: null };
  const seen = quorumChanges(
    [
      { ...event, kind: 'leaderLost' },
      { ...event, kind: 'leader' },
    ],
    { members: [] },
  );
  expect(told(seen)).toEqual([
    'noLeader: etcd lost its leader cp-1 (term 3)',
    'end noLeader',
    'leaderElected: cp-1 became etcd leader in term 3',
  ]);
});

test('a lease that moves concerns both holders; a renewal is nothing', () => {
  const lease = { namespace: 'kube-system', name: 'kube-scheduler', holder: 'cp-1_a' };
  expect(leaseChanges(lease, lease)).toEqual([]);
  const [moved] = leaseChanges(lease, { ...lease, holder: 'cp-2_b' });
  expect(moved).toMatchObject({ about: ['kube-system/kube-scheduler', 'cp-1', 'cp-2'] });
});

test('a node that is not ready is a span, and one that was so at the start is reported', () => {
  const node = (status: string): Stored<Node> =>
    ({
      metadata: { name: 'w-1' },
      status: { conditions: [{ type: 'Ready', status, message: 'gone' }] },
    }) as Stored<Node>;
  expect(told(nodeChanges(node('True'), node('Unknown')))).toEqual([
    'nodeNotReady: Node w-1 is not ready: gone',
  ]);
  expect(told(nodeChanges(node('Unknown'), node('True')))).toEqual(['end node/w-1/Ready']);
  expect(nodeChanges(undefined, node('True'))).toEqual([]);
  expect(nodeChanges(undefined, node('False'))).toHaveLength(1);
});

test('a rollout begins with its template and ends when it is complete or stuck', () => {
  const view = (more: Partial<WorkloadView> = {}): WorkloadView => ({
    kind: 'Deployment',
    plural: 'deployments',
    namespace: 'shop',
    name: 'web',
    template: '1',
    images: ['web:1'],
    wanted: 3,
    isComplete: true,
    stuck: '',
    changedBy: 'kubectl-edit',
    ...more,
  });
  const rolling = view({ template: '2', images: ['web:2'], isComplete: false });
  expect(told(rolloutChanges(view(), rolling))).toEqual([
    'rollout: Rollout of Deployment shop/web: web:2 (kubectl-edit)',
  ]);
  expect(told(rolloutChanges(rolling, { ...rolling, isComplete: true }))).toEqual([
    'end rollout/Deployment/shop/web ok',
  ]);
  expect(told(rolloutChanges(rolling, { ...rolling, stuck: 'deadline' }))).toEqual([
    'end rollout/Deployment/shop/web error',
  ]);
  expect(told(rolloutChanges(view(), view({ wanted: 5, isComplete: false })))).toEqual([
    'rollout: Rollout of Deployment shop/web: 3 → 5 replicas (kubectl-edit)',
  ]);
});

test('an alert lasts until its figure is back below the threshold, not until it is unknown', () => {
  const figure = (state: CriticalMetric['state']): { critical: CriticalMetric[] } => ({
    critical: [
      {
        id: 'queueDepth',
        unit: 'count',
        value: 500,
        threshold: 100,
        state,
        sinceMs: 7,
        subject: 'deployment',
        chart: null,
      },
    ],
  });
  const first = alertChanges(new Set(), figure('firing'));
  expect(told(first.seen)).toEqual(['alert: Alert: Depth of a controller queue (deployment)']);
  const unknown = alertChanges(first.alerts, figure('unknown'));
  expect(unknown.seen).toEqual([]);
  expect(told(alertChanges(unknown.alerts, figure('ok')).seen)).toEqual(['end alert/queueDepth']);
});

import { expect, test } from 'vitest';
import { type EtcdMember, type LeaseView, verbatim } from '../../../core/contract/index.ts';
import { attentionOf } from './attention.ts';
import { capacityByNode, podRequests, totalCapacity } from './data/capacity.ts';
import { foldAgreeing, versionLines } from './data/versions.ts';
import { votesOf } from './data/votes.ts';
import type { EventRow } from '../../tables/event-rows.ts';
import { warningsOf } from './data/warnings.ts';
import { countPods, failingFamilies, nodeFacts, podFacts, podsByNode } from './data/workload.ts';
import { healthOf } from './health-line.ts';
import { componentRows, expectedComponents, hostTone } from './map/component-rows.ts';
import { componentOffers, hostOffers } from './map/host-actions.ts';
import { localHosts } from './map/host-view.ts';
import { NODES_SHOWN_MAX, nodeViews } from './map/node-view.ts';
import { remoteHosts } from './map/remote-hosts.ts';
import {
  clusterState,
  component,
  nodeColumns,
  nodeRow,
  plane,
  podColumns,
  podRow,
  workersHost,
} from './overview-fixture.ts';
import { startStages } from './start/start-stages.ts';

const down = (ordinal: number) => plane(ordinal, { phase: 'killed', components: [] });

test('three control planes tolerate one failure, two of them none, one of them is an outage', () => {
  const health = (...hosts: ReturnType<typeof plane>[]) =>
    healthOf(clusterState({ hosts }), votesOf(clusterState({ hosts }), undefined));
  expect(health(plane(1), plane(2), plane(3))).toEqual({
    tone: 'ok',
    text: 'Quorum holds. Tolerates 1 more control-plane failure.',
  });
  expect(health(plane(1), plane(2), down(3))).toEqual({
    tone: 'warn',
    text: 'Quorum holds. Tolerates no more failures.',
  });
  expect(health(plane(1), down(2), down(3))).toEqual({
    tone: 'error',
    text: 'No quorum: 1 of 3 members healthy, 2 needed. Writes fail.',
  });
  expect(health(plane(1))).toMatchObject({ tone: 'ok' });
});

test('without an API server quorum is no comfort', () => {
  const hosts = [1, 2, 3].map((ordinal) => plane(ordinal, { components: [component('etcd')] }));
  expect(healthOf(clusterState({ hosts }), votesOf(clusterState({ hosts }), undefined)).text).toBe(
    'No API server is responding.',
  );
});

test('a quorum without a leader, and a load balancer without a ready backend, are outages', () => {
  const hosts = [plane(1), plane(2), plane(3)];
  const state = clusterState({ hosts });
  const followers = votesOf(state, undefined).map((vote) => ({ ...vote, role: 'follower' as const }));
  expect(healthOf(state, followers)).toEqual({
    tone: 'error',
    text: 'etcd has no leader. Writes wait for an election.',
  });
  const backends = state.loadBalancer!.backends.map((backend) => ({ ...backend, isHealthy: false }));
  const out = clusterState({ hosts, loadBalancer: { ...state.loadBalancer!, backends } });
  expect(healthOf(out, votesOf(state, undefined)).text).toBe('No API server is responding.');
});

test('a host that is down keeps its rows, and none of them claims a role', () => {
  const state = clusterState({ hosts: [plane(1), down(2)] });
  const rows = componentRows(down(2), expectedComponents(state, 'control-plane'));
  expect(rows.map(({ name, phase, role }) => [name, phase, role])).toEqual([
    ['kube-apiserver', 'away', 'none'],
    ['kube-controller-manager', 'away', 'none'],
    ['kube-scheduler', 'away', 'none'],
    ['cloud-controller-manager', 'away', 'none'],
    ['etcd', 'away', 'none'],
  ]);
});

test('a component whose manifest was set aside is stopped, not broken', () => {
  const host = plane(1, { components: [component('etcd')] });
  const rows = componentRows(host, ['kube-scheduler', 'etcd']);
  expect(rows.map(({ phase, tone }) => [phase, tone])).toEqual([
    ['aside', 'idle'],
    ['ready', 'ok'],
  ]);
});

test('killed is an error, stopped intentionally is not', () => {
  expect(
    (['killed', 'failed', 'paused', 'stopped', 'running'] as const).map((phase) =>
      hostTone(plane(1, { phase })),
    ),
  ).toEqual(['error', 'error', 'warn', 'idle', 'ok']);
});

test('each host carries the connections of its backend', () => {
  expect(localHosts(clusterState(), 'control-plane').map(({ connections }) => connections?.count)).toEqual([
    4, 4, 4,
  ]);
});

test('a menu offers what is possible now and says why the rest is not', () => {
  const offers = (phase: 'running' | 'killed' | 'paused') =>
    hostOffers({ name: 'cp-1', phase }, undefined).map(({ action, why }) => [action.kind, why === undefined]);
  expect(offers('running')).toEqual([
    ['host.start', false],
    ['host.restart', true],
    ['host.pause', true],
    ['host.stop', true],
    ['host.kill', true],
  ]);
  expect(offers('killed')).toEqual([
    ['host.start', true],
    ['host.restart', false],
    ['host.pause', false],
    ['host.stop', false],
    ['host.kill', false],
  ]);
  expect(offers('paused')[2]).toEqual(['host.resume', true]);
});

test('a component of a host that is down cannot be acted on', () => {
  const offers = componentOffers(
    { name: 'cp-1', phase: 'killed' },
    { name: 'etcd', phase: 'away' },
    undefined,
  );
  expect(offers.map(({ why }) => why)).toEqual(['Not running', 'Not running', 'Not running']);
});

test('a start goes through its stages as components become ready', () => {
  const stages = (state: Parameters<typeof startStages>[0]) =>
    startStages(state).map(({ state: is, ready, total }) => `${is} ${ready}/${total}`);
  const starting = (...names: string[]) =>
    [1, 2, 3].map((ordinal) => plane(ordinal, { components: names.map((name) => component(name)) }));
  expect(stages(clusterState({ phase: 'preparing', hosts: [...starting(), workersHost] }))).toEqual([
    'running 0/1',
    'waiting 0/3',
    'waiting 0/3',
    'waiting 0/9',
    'waiting 0/5',
  ]);
  expect(stages(clusterState({ phase: 'starting', hosts: [...starting('etcd'), workersHost] }))).toEqual([
    'done 1/1',
    'done 3/3',
    'running 0/3',
    'waiting 0/9',
    'waiting 0/5',
  ]);
  expect(stages(clusterState()).every((text) => text.startsWith('done'))).toBe(true);
});

const pods = podFacts(podColumns, [
  podRow('web/shop-7d9f8b6c5-aaaaa'),
  podRow('web/shop-7d9f8b6c5-bbbbb', { status: 'CrashLoopBackOff', ready: '0/1' }),
  podRow('web/job-x', { status: 'Completed', ready: '0/1' }),
  podRow('kube-system/coredns-x', { node: 'worker-2' }),
  podRow('web/late-7d9f8b6c5-ccccc', { status: 'Pending', ready: '0/1', node: '<none>' }),
]);

test('pods are counted by what they need; ended ones take no slot', () => {
  expect(countPods(pods)).toEqual({ total: 4, running: 2, failing: 1, pending: 1, system: 1 });
  expect([...podsByNode(pods)].map(([node, { total }]) => [node, total])).toEqual([
    ['worker-1', 2],
    ['worker-2', 1],
  ]);
});

test('failing pods are reported once per owner', () => {
  expect(failingFamilies(pods)).toEqual([
    { name: 'web/shop', status: 'CrashLoopBackOff', failing: 1, total: 2, key: 'web/shop-7d9f8b6c5-bbbbb' },
  ]);
});

test('nodes are read in the order of people: worker-2 before worker-10', () => {
  const nodes = nodeFacts(nodeColumns, [
    nodeRow('worker-10', 'NotReady'),
    nodeRow('worker-2', 'Ready,SchedulingDisabled'),
  ]);
  expect(nodes.map(({ name, isReady, isCordoned }) => [name, isReady, isCordoned])).toEqual([
    ['worker-2', true, true],
    ['worker-10', false, false],
  ]);
});

test('with more nodes than cards the ones in trouble stay in view', () => {
  const rows = Array.from({ length: NODES_SHOWN_MAX + 6 }, (_, index) =>
    nodeRow(`worker-${index + 1}`, index === 28 ? 'NotReady' : 'Ready'),
  );
  const { shown, hiddenCount } = nodeViews({
    nodes: nodeFacts(nodeColumns, rows),
    pods: new Map(),
    capacity: new Map(),
    heartbeats: new Map(),
    nowMs: 0,
  });
  expect([shown[0]?.node.name, shown.length, hiddenCount]).toEqual(['worker-29', NODES_SHOWN_MAX, 6]);
});

test('a pod asks for its containers and sidecars, or for the largest moment of its start', () => {
  const requests = (cpu: string, more = {}) => ({
    resources: { requests: { cpu, memory: '64Mi' } },
    ...more,
  });
  const pod = {
    spec: {
      nodeName: 'worker-1',
      containers: [requests('100m'), requests('200m')],
      initContainers: [requests('50m', { restartPolicy: 'Always' }), requests('500m')],
    },
  };
  expect(podRequests(pod).cpu).toBeCloseTo(0.55);
  const byNode = capacityByNode(
    [{ metadata: { name: 'worker-1' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } } }],
    [pod, { ...pod, status: { phase: 'Succeeded' } }],
  );
  expect(totalCapacity(byNode).requested).toMatchObject({ pods: 1, memory: 3 * 64 * 1024 * 1024 });
});

test('components with the same version are one line, and listed one by one when they differ', () => {
  const agreeing = [
    { component: 'etcd', version: '3.6.6' },
    { component: 'kube-apiserver', version: 'v1.36.0' },
    { component: 'kubelet', version: 'v1.36.0' },
  ];
  const shownOf = (running: readonly { component: string; version: string }[]) =>
    foldAgreeing(versionLines(running)).map(({ components, versions }) => [
      components.join(' '),
      versions.map(({ version }) => version).join(' '),
    ]);
  expect(shownOf(agreeing)).toEqual([
    ['kube-apiserver kubelet', 'v1.36.0'],
    ['etcd', '3.6.6'],
  ]);
  expect(shownOf([...agreeing, { component: 'kube-proxy', version: 'v1.35.1' }])).toEqual([
    ['etcd', '3.6.6'],
    ['kube-apiserver', 'v1.36.0'],
    ['kube-proxy', 'v1.35.1'],
    ['kubelet', 'v1.36.0'],
  ]);
});

test('components in more than one version come first', () => {
  expect(
    versionLines([
      { component: 'etcd', version: '3.6.0' },
      { component: 'kube-apiserver', version: 'v1.35.0' },
      { component: 'kube-apiserver', version: 'v1.36.0' },
      { component: 'kube-apiserver', version: 'v1.36.0' },
    ]),
  ).toEqual([
    {
      component: 'kube-apiserver',
      versions: [
        { version: 'v1.36.0', count: 2 },
        { version: 'v1.35.0', count: 1 },
      ],
    },
    { component: 'etcd', versions: [{ version: '3.6.0', count: 1 }] },
  ]);
});

test('warnings are the newest first, by their last occurrence', () => {
  const event = (reason: string, isWarning: boolean, lastAtMs: number): EventRow => ({
    ...{ key: `web/${reason}`, namespace: 'web', object: 'pod/shop', source: 'kubelet', message: 'no' },
    ...{ reason, isWarning, lastAtMs, count: 1 },
  });
  const events = [event('old', true, 1_000), event('normal', false, 3_000), event('new', true, 2_000)];
  expect(warningsOf(events, 6).map(({ kind, name, reason }) => [kind, name, reason])).toEqual([
    ['pod', 'shop', 'new'],
    ['pod', 'shop', 'old'],
  ]);
});

test('a host that is down speaks for its node; errors come before warnings', () => {
  const found = attentionOf({
    state: clusterState({
      hosts: [plane(1), plane(2, { phase: 'paused' }), down(3)],
      warnings: [verbatim('slow disk')],
    }),
    nodes: nodeFacts(nodeColumns, [nodeRow('cp-3', 'NotReady', true), nodeRow('worker-1', 'NotReady')]),
    families: [],
    metrics: undefined,
    heartbeats: new Map([['worker-1', 0]]),
    nowMs: 60_000,
  });
  expect(found.map(({ tone, title }) => [tone, title])).toEqual([
    ['error', 'cp-3'],
    ['warn', 'cp-2'],
    ['warn', 'Since start'],
    ['warn', 'worker-1'],
  ]);
});

test('the control plane of a cluster of others is read from its nodes, static pods and leases', () => {
  const lease = {
    namespace: 'kube-system',
    name: 'kube-scheduler',
    holder: 'cp-1_abc',
    kind: 'election',
  } as LeaseView;
  const labels = (name: string) => ({ tier: 'control-plane', component: name });
  const facts = podFacts(podColumns, [
    podRow('kube-system/kube-scheduler-cp-1', { node: 'cp-1', labels: labels('kube-scheduler') }),
    podRow('kube-system/kube-apiserver-cp-1', { node: 'cp-1', labels: labels('kube-apiserver') }),
  ]);
  const nodes = nodeFacts(nodeColumns, [nodeRow('cp-1', 'Ready', true), nodeRow('worker-1')]);
  expect(
    remoteHosts(nodes, facts, [lease]).map(({ name, rows }) => [
      name,
      rows.map((row) => [row.name, row.role]),
    ]),
  ).toEqual([
    [
      'cp-1',
      [
        ['kube-apiserver', 'active'],
        ['kube-scheduler', 'leader'],
      ],
    ],
  ]);
});

test('while no member answers the monitor, hosts say who votes', () => {
  const member = (role: 'unreachable' | 'follower') =>
    ({ id: '8e9e', name: '', role, host: 'cp-1' }) as EtcdMember;
  const view = (role: 'unreachable' | 'follower') => ({ atMs: 0, members: [member(role)], problem: null });
  expect(votesOf(clusterState(), view('unreachable')).map(({ name, role }) => [name, role])).toEqual([
    ['cp-1', 'leader'],
    ['cp-2', 'follower'],
    ['cp-3', 'follower'],
  ]);
  expect(votesOf(clusterState(), view('follower')).map(({ name, role }) => [name, role])).toEqual([
    ['cp-1', 'follower'],
  ]);
});

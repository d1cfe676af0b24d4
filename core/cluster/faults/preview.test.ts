import { expect, test } from 'vitest';
import type { ClusterAction } from '../../contract/actions/actions.ts';
import type { ActionFacts } from './facts.ts';
import { previewAction } from './preview.ts';

const READY = ['etcd', 'kube-apiserver', 'kube-scheduler'];

/** A stacked cluster; the first member leads, and members of `dead` do not respond. */
const cluster = (count: number, dead: readonly string[] = []): ActionFacts => {
  const names = Array.from({ length: count }, (_, index) => `cp-${index + 1}`);
  return {
    hosts: names.map((name) => ({
      name,
      role: 'control-plane',
      phase: dead.includes(name) ? 'killed' : 'running',
      nodes: [name],
      ready: dead.includes(name) ? [] : READY,
    })),
    members: names.map((name, index) => ({
      id: String(index),
      name,
      host: name,
      isLearner: false,
      isLeader: index === 0,
      isHealthy: !dead.includes(name),
    })),
    leases: [{ name: 'kube-scheduler', host: 'cp-1' }],
    podsByNode: { 'cp-1': 2 },
    faults: [],
  };
};

const codesOf = (facts: ActionFacts, action: ClusterAction): readonly string[] => {
  const { verdict, effects } = previewAction(facts, action);
  return [verdict, ...effects.map(({ code }) => code)];
};

test('killing the leader of three leaves a quorum without reserve, and tells everything that moves', () => {
  expect(previewAction(cluster(3), { kind: 'host.kill', host: 'cp-1' })).toEqual({
    verdict: 'degraded',
    quorum: { voters: 3, needed: 2, healthyNow: 3, votersAfter: 3, neededAfter: 2, healthyAfter: 2 },
    effects: [
      { code: 'etcdLeaderMoves', subject: 'cp-1', count: 0 },
      { code: 'writesPause', subject: 'cp-1', count: 0 },
      { code: 'memberAnswersNothing', subject: 'cp-1', count: 0 },
      { code: 'noFailureTolerated', subject: 'etcd', count: 2 },
      { code: 'apiServersLeft', subject: 'kube-apiserver', count: 2 },
      { code: 'leaseMoves', subject: 'kube-scheduler', count: 0 },
      { code: 'nodeStopsAnswering', subject: 'cp-1', count: 0 },
      { code: 'podsMove', subject: 'cp-1', count: 2 },
    ],
  });
});

test('a second failure of three is an outage', () => {
  expect(codesOf(cluster(3, ['cp-2']), { kind: 'host.pause', host: 'cp-3' })).toContain('quorumLost');
  expect(previewAction(cluster(3, ['cp-2']), { kind: 'host.stop', host: 'cp-3' }).verdict).toBe('outage');
});

test('the only API server is an outage, quorum or not', () => {
  const action = { kind: 'component.stop', host: 'cp-1', component: 'kube-apiserver' } as const;
  expect(codesOf(cluster(1), action)).toEqual(['outage', 'noApiServerLeft']);
  expect(codesOf(cluster(3), action)).toEqual(['degraded', 'apiServersLeft']);
});

test('bringing a member back is safe', () => {
  expect(previewAction(cluster(3, ['cp-2']), { kind: 'host.start', host: 'cp-2' })).toMatchObject({
    verdict: 'safe',
    quorum: { healthyNow: 2, healthyAfter: 3 },
  });
});

test('removing a healthy member while another is dead loses the quorum, removing the dead one does not', () => {
  const facts = cluster(3, ['cp-2']);
  expect(previewAction(facts, { kind: 'member.remove', member: 'cp-3' })).toMatchObject({
    verdict: 'outage',
    quorum: { votersAfter: 2, neededAfter: 2, healthyAfter: 1 },
  });
  expect(previewAction(facts, { kind: 'member.remove', member: 'cp-2' })).toMatchObject({
    verdict: 'degraded',
    quorum: { votersAfter: 2, neededAfter: 2, healthyAfter: 2 },
  });
});

test('a fourth member is one that tolerates nothing more', () => {
  expect(codesOf(cluster(3), { kind: 'member.add' })).toEqual(['safe', 'evenMembers']);
});

test('a restore replaces everything, and no one writes meanwhile', () => {
  expect(codesOf(cluster(3), { kind: 'snapshot.restore', file: 'a.db' })).toEqual([
    'outage',
    'everythingReplaced',
    'writesPause',
  ]);
});

test('an upgrade of one control plane interrupts it, an upgrade of three does not', () => {
  const action = { kind: 'upgrade.apply', version: 'v1.36.0' } as const;
  expect([previewAction(cluster(1), action).verdict, previewAction(cluster(3), action).verdict]).toEqual([
    'outage',
    'safe',
  ]);
});

test('an etcd that is not ours has no quorum of ours', () => {
  const facts = { ...cluster(3), members: [] };
  expect(previewAction(facts, { kind: 'host.kill', host: 'cp-2' })).toMatchObject({
    verdict: 'degraded',
    quorum: null,
  });
});

const cut = (from: string, to: string, id = `${from}-${to}`) =>
  ({ id, text: '', kind: 'cut', from, to, isOneWay: false }) as const;

test('a cut link of three costs no quorum, the second one of the leader makes another one lead', () => {
  const facts = cluster(3);
  expect(codesOf(facts, { kind: 'fault.add', fault: cut('cp-1', 'cp-2') })).toEqual(['safe']);
  const second = { kind: 'fault.add', fault: cut('cp-1', 'cp-3') } as const;
  expect(codesOf({ ...facts, faults: [cut('cp-1', 'cp-2')] }, second)).toEqual([
    'degraded',
    'etcdLeaderMoves',
    'writesPause',
    'noFailureTolerated',
  ]);
});

test('a host behind a cut link counts as dead, and healing brings it back', () => {
  const faults = [cut('cp-3', 'cp-1'), cut('cp-3', 'cp-2')];
  const facts = { ...cluster(3), faults };
  expect(previewAction(facts, { kind: 'host.kill', host: 'cp-2' })).toMatchObject({
    verdict: 'outage',
    quorum: { healthyNow: 2, healthyAfter: 1 },
  });
  expect(previewAction(facts, { kind: 'fault.heal', id: 'all' })).toMatchObject({
    verdict: 'safe',
    quorum: { healthyNow: 2, healthyAfter: 3 },
  });
});

test('an isolated host is as good as dead, one that only the load balancer misses keeps its vote', () => {
  const facts = cluster(3);
  expect(previewAction(facts, { kind: 'fault.isolate', host: 'cp-1' })).toEqual(
    previewAction(facts, { kind: 'host.kill', host: 'cp-1' }),
  );
  const action = { kind: 'fault.add', fault: cut('load-balancer', 'cp-1') } as const;
  expect(previewAction(facts, action)).toMatchObject({ verdict: 'degraded', quorum: { healthyAfter: 3 } });
  expect(codesOf(facts, action)).toEqual([
    'degraded',
    'apiServersLeft',
    'leaseMoves',
    'nodeStopsAnswering',
    'podsMove',
  ]);
});

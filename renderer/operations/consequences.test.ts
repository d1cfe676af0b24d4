import { expect, test } from 'vitest';
import type { ActionPreview, ClusterAction } from '../../core/contract/index.ts';
import { consequencesOf, quorumConsequence } from './consequences.ts';

const kill: ClusterAction = { kind: 'component.kill', host: 'cp-1', component: 'kube-scheduler' };
const quorum = (voters: number, now: number, after: number, votersAfter = voters) => ({
  voters,
  needed: Math.floor(voters / 2) + 1,
  healthyNow: now,
  votersAfter,
  neededAfter: Math.floor(votersAfter / 2) + 1,
  healthyAfter: after,
});

test('stopping one of three leaves quorum without a spare', () => {
  expect(quorumConsequence(quorum(3, 3, 2))).toEqual({
    tone: 'warn',
    text: '2 of 3 etcd members healthy, 2 needed: quorum holds but tolerates no more failures',
  });
});

test('stopping one of five leaves one spare', () => {
  expect(quorumConsequence(quorum(5, 5, 4))).toEqual({
    tone: 'ok',
    text: '4 of 5 etcd members healthy, 3 needed: quorum holds and tolerates 1 more failure',
  });
});

test('stopping the second of three loses quorum', () => {
  expect(quorumConsequence(quorum(3, 2, 1))).toEqual({
    tone: 'error',
    text: '1 of 3 etcd members healthy, 2 needed: quorum is lost, and writes fail until a member is back',
  });
});

test('bringing the missing member back restores writes', () => {
  expect(quorumConsequence(quorum(3, 1, 2)).tone).toBe('ok');
});

test('the single member of a small cluster is no warning on its own', () => {
  expect(quorumConsequence(quorum(1, 1, 1)).tone).toBe('ok');
});

test('quorum comes first, then the worst; what quorum already says is not said twice', () => {
  const preview: ActionPreview = {
    verdict: 'outage',
    quorum: quorum(3, 2, 1),
    effects: [
      { code: 'quorumLost', subject: '', count: 1 },
      { code: 'componentRestarts', subject: 'kube-scheduler', count: 1 },
      { code: 'apiServersLeft', subject: '', count: 1 },
      { code: 'noApiServerLeft', subject: '', count: 0 },
    ],
  };
  expect(consequencesOf(preview, kill).map(({ tone }) => tone)).toEqual(['error', 'error', 'warn', 'idle']);
});

test('an action without effects says that nothing is interrupted', () => {
  expect(consequencesOf({ verdict: 'safe', quorum: null, effects: [] }, kill)).toEqual([
    { tone: 'ok', text: 'No running workload is interrupted' },
  ]);
});

test('a host of many nodes counts them instead of naming each', () => {
  const effects = ['worker-1', 'worker-2', 'worker-3'].map((subject) => ({
    code: 'nodeStopsAnswering' as const,
    subject,
    count: 0,
  }));
  expect(
    consequencesOf({ verdict: 'safe', quorum: null, effects }, { kind: 'host.kill', host: 'workers' }),
  ).toEqual([
    { tone: 'warn', text: '3 nodes become NotReady after 50 s; their pods are evicted after 5 min' },
  ]);
});

test('several leases are one sentence, and without quorum no one takes over', () => {
  const effects = ['kube-scheduler', 'kube-controller-manager'].map((subject) => ({
    code: 'leaseMoves' as const,
    subject,
    count: 0,
  }));
  const stop: ClusterAction = { kind: 'host.stop', host: 'cp-1' };
  expect(consequencesOf({ verdict: 'safe', quorum: null, effects }, stop)).toEqual([
    {
      tone: 'warn',
      text: '2 leases move to other hosts when they expire, in about 15 s: `kube-scheduler`, `kube-controller-manager`',
    },
  ]);
  expect(consequencesOf({ verdict: 'outage', quorum: quorum(3, 2, 1), effects }, stop)).toHaveLength(1);
});

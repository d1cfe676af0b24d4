import { expect, test } from 'vitest';
import type { RequestTrace, SchedulingView } from '../../../core/contract/index.ts';
import { matrixRows, podAsQuestion, refusalCounts } from './scheduling-matrix.ts';
import { arrange, culprit, isHeartbeat, placeStages, shortUser } from './trace-stages.ts';

const trace = (over: Partial<RequestTrace>): RequestTrace => ({
  auditId: 'a',
  server: 'cp-1',
  startedAtMs: 0,
  durationMs: 10,
  protocol: 'HTTP/2',
  method: 'GET',
  path: '/api/v1/pods',
  verb: 'list',
  user: 'admin',
  code: 200,
  stages: [],
  ...over,
});
const stage = (name: string, durationMs: number, verdict: 'passed' | 'refused' = 'passed') => ({
  stage: name,
  durationMs,
  verdict,
  reason: verdict === 'refused' ? 'no' : '',
});

test('stages are listed in sequence; time outside of them is reported', () => {
  const { stages, restMs } = placeStages(
    trace({ durationMs: 10, stages: [stage('authn', 2), stage('etcd', 6)] }),
  );
  expect([stages.map(({ left, width }) => [left, width]), restMs]).toEqual([
    [
      [0, 20],
      [20, 60],
    ],
    2,
  ]);
});

test('stages that overlap the measured time stay within the line', () => {
  const { stages, restMs } = placeStages(trace({ durationMs: 5, stages: [stage('a', 5), stage('b', 5)] }));
  expect([stages.every(({ left, width }) => left + width <= 100), restMs]).toEqual([true, 0]);
});

test('the stage that said no is found', () => {
  expect(culprit({ stages: [stage('authn', 1), stage('authz', 1, 'refused')] })?.stage).toBe('authz');
});

test('heartbeats are left out unless they fail; a watch is never slow', () => {
  const lease = trace({ path: '/apis/coordination.k8s.io/v1/namespaces/x/leases/y', verb: 'update' });
  expect([isHeartbeat(lease), isHeartbeat({ ...lease, code: 409 })]).toEqual([true, false]);
  const traces = [
    trace({ auditId: 'watch', verb: 'watch', durationMs: 9000 }),
    lease,
    trace({ auditId: 'slow', durationMs: 50 }),
  ];
  const order = { onlyProblems: false, withHeartbeats: false, order: 'slowest' } as const;
  expect(arrange(traces, order).map(({ auditId }) => auditId)).toEqual(['slow', 'watch']);
});

test('service accounts are known by where they live', () => {
  expect(shortUser('system:serviceaccount:kube-system:job-controller')).toBe('kube-system/job-controller');
});

const view: SchedulingView = {
  pod: 'web/a',
  atMs: 0,
  profile: 'default-scheduler',
  node: 'n2',
  message: '',
  evaluated: 4,
  nodes: 4,
  filters: ['TaintToleration'],
  scores: [{ plugin: 'Fit', weight: 1 }],
  rows: [
    { node: 'n1', refusedBy: 'TaintToleration', reason: 'taint', scores: [], total: 0 },
    { node: 'n3', refusedBy: '', reason: '', scores: [40], total: 40 },
    { node: 'n2', refusedBy: '', reason: '', scores: [80], total: 80 },
    { node: 'n4', refusedBy: 'TaintToleration', reason: 'taint', scores: [], total: 0 },
  ],
};

test('the selected node is first, then nodes by score, then filtered ones', () => {
  expect(matrixRows(view).map(({ node, isWinner, cells }) => [node, isWinner, cells[0]?.share])).toEqual([
    ['n2', true, 1],
    ['n3', false, 0.5],
    ['n1', false, undefined],
    ['n4', false, undefined],
  ]);
  expect(refusalCounts(view)).toEqual([{ plugin: 'TaintToleration', reason: 'taint', count: 2 }]);
});

test('a pod asked about again has no node and none of the tolerations that admission gave it', () => {
  const text = podAsQuestion({
    metadata: { name: 'a', namespace: 'web', uid: 'x' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c' }],
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
        { key: 'gpu', effect: 'NoSchedule' },
      ],
    },
    status: { phase: 'Running' },
  });
  expect([
    text.includes('n1'),
    text.includes('not-ready'),
    text.includes('gpu'),
    text.includes('Running'),
  ]).toEqual([false, false, true, false]);
});

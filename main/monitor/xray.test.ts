import { expect, test } from 'vitest';
import { defaultSpec, type ClusterConfig } from '../../core/cluster/config/config.ts';
import type { Answer, Ask, ClusterAccess } from '../../core/cluster/monitor/scrape/cluster-access.ts';
import type { Explanation } from '../../core/scheduler/explain/explanation.ts';
import { localRequests, localScheduling, localWhatIf, podOf, schedulingViewOf } from './xray.ts';

const config: ClusterConfig = {
  apiVersion: 'pilothouse.dev/v1',
  kind: 'Cluster',
  metadata: { name: 'desk' },
  spec: defaultSpec(40),
};

const servers = (answer: (request: Ask) => Answer | Error): ClusterAccess => ({
  ask(request) {
    const said = answer(request);
    return said instanceof Error ? Promise.reject(said) : Promise.resolve(said);
  },
  dispose: () => undefined,
});

const trace = (auditId: string, startedAtMs: number, path = '/api') => ({
  auditId,
  startedAtMs,
  durationMs: 1,
  protocol: 'HTTP/2.0',
  method: 'GET',
  path,
  verb: 'get',
  user: 'someone',
  code: 200,
  stages: [{ stage: 'api', durationMs: 1, verdict: 'answered' }],
});

const explanation: Explanation = {
  pod: { namespace: 'web', name: 'p', uid: 'u' },
  profile: 'default-scheduler',
  attempt: 1,
  startedAtMs: 5,
  durationsMs: {},
  result: 'scheduled',
  nodeName: 'worker-1',
  nodeCount: 3,
  feasibleNodeCount: 1,
  rejections: [
    {
      plugin: 'TaintToleration',
      code: 'Unschedulable',
      reasons: ['taint'],
      nodeCount: 2,
      nodes: ['cp-1', 'cp-2'],
    },
  ],
  scores: [
    {
      node: 'worker-1',
      total: 300,
      plugins: [{ name: 'NodeResourcesFit', raw: 1, normalised: 100, weight: 3, weighted: 300 }],
    },
  ],
};

test('requests of all API servers are in one list, newest first, and a dead server is skipped', async () => {
  const access = servers(({ url }) => {
    if (url.includes('127.40.0.3')) return new Error('connect ECONNREFUSED');
    const items = url.includes('127.40.0.1')
      ? [trace('a', 3), trace('b', 1, '/other')]
      : [trace('c', 2), trace('d', 4)];
    return { status: 200, text: JSON.stringify({ items }) };
  });
  const found = await localRequests(access, config, { filter: '/api', auditId: null });
  expect(found.map(({ auditId, server }) => `${auditId} ${server}`)).toEqual(['d cp-2', 'a cp-1', 'c cp-2']);
  expect(found[0]!.stages).toEqual([{ stage: 'api', durationMs: 1, verdict: 'answered', reason: '' }]);
});

test('a request names the webhooks and policies that had a say in it', async () => {
  const changed = { kind: 'MutatingWebhookConfiguration', name: 'a', part: 'x', outcome: 'changed' };
  const admission = [
    { ...changed, patch: ['add /metadata/labels'] },
    { ...changed, outcome: 'denied', message: 'no' },
  ];
  const text = JSON.stringify({ items: [{ ...trace('one', 1), admission }] });
  const [found] = await localRequests(
    servers(() => ({ status: 200, text })),
    config,
    { filter: '', auditId: null },
  );
  expect(found?.admission).toEqual([
    { ...changed, message: '', patch: ['add /metadata/labels'] },
    { ...changed, outcome: 'denied', message: 'no', patch: [] },
  ]);
});

test('without any API server the failure names each', async () => {
  const access = servers(() => new Error('connect ECONNREFUSED'));
  await expect(localRequests(access, config, { filter: '', auditId: null })).rejects.toThrow(
    'no API server returned its request traces: cp-1: connect ECONNREFUSED',
  );
});

test('the scheduler that leads is asked, and its words become rows', async () => {
  const access = servers(({ url }) => ({
    status: 200,
    text: JSON.stringify({
      isLeading: url.includes('127.40.0.2'),
      items: url.includes('127.40.0.2') ? [explanation] : [],
    }),
  }));
  expect(await localScheduling(access, config, { namespace: 'web', pod: 'p' })).toEqual([
    {
      pod: 'web/p',
      atMs: 5,
      profile: 'default-scheduler',
      node: 'worker-1',
      message: '',
      evaluated: 3,
      nodes: 3,
      filters: ['TaintToleration'],
      scores: [{ plugin: 'NodeResourcesFit', weight: 3 }],
      rows: [
        { node: 'worker-1', refusedBy: '', reason: '', scores: [300], total: 300 },
        { node: 'cp-1', refusedBy: 'TaintToleration', reason: 'taint', scores: [], total: 0 },
        { node: 'cp-2', refusedBy: 'TaintToleration', reason: 'taint', scores: [], total: 0 },
      ],
    },
  ]);
});

test('rows are bounded however many nodes there are', () => {
  const nodes = Array.from({ length: 5000 }, (_, index) => `n${index}`);
  const [rejection] = explanation.rejections;
  const view = schedulingViewOf({ ...explanation, rejections: [{ ...rejection!, nodes, nodeCount: 5000 }] });
  expect([view.rows.length, view.rows[0]!.node]).toEqual([500, 'worker-1']);
});

test('a question without a leader, and one that is no pod, are refused with a reason', async () => {
  const access = servers(() => ({ status: 200, text: '{"isLeading":false}' }));
  await expect(localWhatIf(access, config, 'spec: {containers: []}')).rejects.toMatchObject({
    reason: 'Unavailable',
  });
  expect(() => podOf('kind: Service\nspec: {}')).toThrow('a Pod with a spec is required');
  expect(() => podOf('a: [')).toThrow('not valid YAML or JSON');
  expect(podOf('{"spec":{}}')).toEqual({ spec: {}, metadata: { name: 'what-if', namespace: 'default' } });
});

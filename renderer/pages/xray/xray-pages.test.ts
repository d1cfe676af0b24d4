// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import {
  type ApiAnswer,
  type ClusterList,
  ContractError,
  type Handlers,
  type RequestTrace,
  type SchedulingView,
  type TableItem,
  verbatim,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, fill, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import RequestsPage from './RequestsPage.vue';
import SchedulerPage from './SchedulerPage.vue';

const cluster = {
  id: '/k#prod',
  name: 'prod',
  origin: 'kubeconfig' as const,
  server: 'https://prod:6443',
  user: 'admin',
  namespace: 'default',
  kubeconfigPath: '/k',
  readOnly: true,
  local: null,
};
const trace = (over: Partial<RequestTrace>): RequestTrace => ({
  auditId: 'one',
  server: 'cp-1',
  startedAtMs: 0,
  durationMs: 4,
  protocol: 'HTTP/2.0',
  method: 'GET',
  path: '/api/v1/pods',
  verb: 'list',
  user: 'ada',
  code: 200,
  stages: [{ stage: 'authentication', durationMs: 1, verdict: 'passed', reason: '' }],
  ...over,
});
const refused = trace({
  auditId: 'two',
  path: '/api/v1/secrets',
  code: 403,
  stages: [{ stage: 'authorization', durationMs: 1, verdict: 'refused', reason: 'no role grants list' }],
});
const answer: SchedulingView = {
  pod: 'web/a',
  atMs: 0,
  profile: 'default-scheduler',
  node: 'n1',
  message: '',
  evaluated: 2,
  nodes: 2,
  filters: ['TaintToleration'],
  scores: [{ plugin: 'NodeResourcesFit', weight: 1 }],
  rows: [
    { node: 'n1', refusedBy: '', reason: '', scores: [80], total: 80 },
    { node: 'n2', refusedBy: 'TaintToleration', reason: 'untolerated taint', scores: [], total: 0 },
  ],
};

let mounted: Mounted | undefined;
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
  localStorage.clear();
});
const show = async (page: typeof RequestsPage, path: string, handlers: Handlers) => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, cluster.id);
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [cluster], problems: [] }).handler,
    'kube.table': (_query, signal) => feed<TableItem>().handler(undefined, signal),
    ...handlers,
  });
  mounted = await mount(page, connection);
  await mounted.router.push(path);
  await settle();
  return { root: mounted.root, text: () => mounted!.root.textContent ?? '' };
};

test('a request that was refused shows the stage and its reason', async () => {
  const { root, text } = await show(RequestsPage, '/requests', {
    'xray.requests': () => Promise.resolve([trace({}), refused]),
  });
  expect(text()).toContain('1 denied or failed');
  await click(root, '/api/v1/secrets');
  expect(text()).toContain('Rejected by authorization');
  expect(text()).toContain('no role grants list');
});

test('a server that keeps no traces says so once', async () => {
  let count = 0;
  const { text } = await show(RequestsPage, '/requests', {
    'xray.requests': () => {
      count += 1;
      return Promise.reject(new ContractError('Unimplemented', verbatim('this API server keeps no traces')));
    },
  });
  expect([text().includes('keeps no traces'), count]).toEqual([true, 1]);
});

test('the node that was chosen and why the other was not', async () => {
  const { text } = await show(SchedulerPage, '/scheduler?pod=web/a', {
    'xray.scheduling': () => Promise.resolve([answer]),
  });
  expect(text()).toContain('n1 was selected');
  expect(text()).toContain('TaintToleration untolerated taint');
});

test('what-if sends the text and shows where the pod would go; a refusal keeps the text', async () => {
  let isRefused = true;
  const { root, text } = await show(SchedulerPage, '/scheduler?view=what-if', {
    'xray.whatIf': () =>
      isRefused
        ? Promise.reject(new ContractError('BadRequest', verbatim('a Pod with a spec is required')))
        : Promise.resolve(answer),
  });
  await click(root, 'Simulate');
  expect(text()).toContain('a Pod with a spec is required');
  isRefused = false;
  await click(root, 'Simulate');
  expect(text()).toContain('n1 would be selected');
  expect(root.querySelector('textarea')?.value).toContain('kind: Pod');
});

test('a pod that is read late takes nothing away that was written, nor does a look at the pods', async () => {
  let onRead: (value: ApiAnswer) => void = () => undefined;
  const { root, text } = await show(SchedulerPage, '/scheduler?view=what-if&pod=web/a', {
    'kube.request': () => new Promise<ApiAnswer>((resolve) => (onRead = resolve)),
    'xray.scheduling': () => Promise.resolve([answer]),
  });
  await fill(root.querySelector('textarea')!, 'kind: Pod # mine');
  onRead({ ok: true, body: { kind: 'Pod', metadata: { name: 'a', namespace: 'web' } } });
  await settle();
  expect(root.querySelector('textarea')?.value).toBe('kind: Pod # mine');
  await mounted!.router.push('/scheduler?pod=web/a');
  await settle();
  expect(text()).toContain('n1 was selected');
  await mounted!.router.push('/scheduler?view=what-if&pod=web/a');
  await settle();
  expect(root.querySelector('textarea')?.value).toBe('kind: Pod # mine');
});

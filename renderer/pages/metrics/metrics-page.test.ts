// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest';
import {
  type ClusterList,
  ContractError,
  type CriticalMetric,
  type Handlers,
  type MetricsHealth,
  type MetricsQuery,
  verbatim,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import MetricsPage from './MetricsPage.vue';

// A canvas needs a screen; what is drawn on it is tested where it is made.
vi.mock('./echarts.ts', () => ({
  drawIn: () => ({
    setOption: () => undefined,
    on: () => undefined,
    getZr: () => ({ on: () => undefined }),
    resize: () => undefined,
    dispose: () => undefined,
  }),
}));

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
const figure = (over: Partial<CriticalMetric>): CriticalMetric => ({
  id: 'apiLatencyP99',
  unit: 'seconds',
  value: 0.04,
  threshold: 1,
  state: 'ok',
  sinceMs: null,
  subject: 'cp-1',
  chart: 'apiLatencyP99',
  ...over,
});
const health = (...critical: CriticalMetric[]): MetricsHealth => ({
  atMs: 0,
  critical,
  targets: [{ component: 'etcd', instance: 'cp-1', isUp: false, lastAtMs: null, message: 'ECONNREFUSED' }],
});

let mounted: Mounted | undefined;
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
  localStorage.clear();
});

const show = async (over: Handlers = {}, path = '/metrics') => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, cluster.id);
  const asked: MetricsQuery[] = [];
  const source = feed<MetricsHealth>(health(figure({})));
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [cluster], problems: [] }).handler,
    'metrics.health': (_input, signal) => source.handler(undefined, signal),
    'metrics.query': (query) => {
      asked.push(query);
      return Promise.resolve({
        sinceMs: 0,
        stepMs: 5,
        timesMs: [0, 5],
        charts: query.charts.map((chart) => ({ chart, series: [{ name: 'cp-1', values: [1, 2] }] })),
      });
    },
    ...over,
  });
  mounted = await mount(MetricsPage, connection);
  await mounted.router.push(path);
  await settle();
  return { asked, source, text: () => mounted!.root.textContent ?? '', root: mounted.root };
};

test('a section asks for its own charts over the chosen range', async () => {
  const { asked } = await show({}, '/metrics?section=nodes&range=1h');
  const { charts, fromMs, toMs } = asked.at(-1)!;
  expect([charts, toMs - fromMs]).toEqual([['nodePods', 'nodeCpu', 'nodeMemory'], 3_600_000]);
});

test('a figure above its limit is counted in the head, and opened it says what to do', async () => {
  const { source, text, root } = await show();
  expect(text()).toContain('1 key metric is within its limit.');
  source.push(health(figure({ state: 'firing', value: 2.5, sinceMs: 0 })));
  await settle();
  expect(text()).toContain('1 key metric is above its limit.');
  root.querySelector<HTMLElement>('.strip button')!.click();
  await settle();
  expect(text()).toContain('What to do');
  expect(text()).toContain('2.5 s on cp-1');
});

test('a chart can be read as a table', async () => {
  const { root, text } = await show({}, '/metrics?section=scheduler');
  await click(root, 'Show as table');
  expect(text()).toContain('Max');
});

test('targets that do not answer say why', async () => {
  const { text } = await show({}, '/metrics?section=targets');
  expect(text()).toContain('ECONNREFUSED');
});

test('a cluster without samples is reported, not drawn empty', async () => {
  const refuse = (): Promise<never> =>
    Promise.reject(new ContractError('Unimplemented', verbatim('nobody samples this cluster')));
  const { text } = await show({
    'metrics.query': refuse,
    'metrics.health': async function* () {
      yield [];
      await refuse();
    },
  });
  expect(text()).toContain('nobody samples this cluster');
});

// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { defineComponent, h } from 'vue';
import {
  type ClusterList,
  type Handlers,
  type KubeDiscovery,
  type KubeResource,
  type TableItem,
  type TableQuery,
  type TableRow,
  verbatim,
} from '../../../core/contract/index.ts';
import { ContractError } from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, fill, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import DeleteDialog from './detail/DeleteDialog.vue';
import ResourcesPage from './ResourcesPage.vue';

const resource = (over: Partial<KubeResource>): KubeResource => ({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  verbs: ['delete', 'get', 'list', 'patch', 'watch'],
  subresources: ['log', 'status'],
  isPreferred: true,
  ...over,
});
const discovery: KubeDiscovery = {
  serverVersion: 'v1.36.0',
  resources: [
    resource({}),
    resource({ group: 'apps', plural: 'deployments', kind: 'Deployment', subresources: ['scale', 'status'] }),
    resource({ plural: 'services', kind: 'Service' }),
  ],
  failed: [],
};
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
const column = (name: string) => ({ name, type: 'string', format: '', description: '', priority: 0 });
const row = (name: string, status = 'Running'): TableRow => ({
  key: `web/${name}`,
  uid: name,
  name,
  namespace: 'web',
  createdAtMs: 0,
  isDeleting: false,
  labels: { app: 'web' },
  cells: [name, status],
});
const rows = (...list: TableRow[]): TableItem => ({ kind: 'rows', rows: list });

let mounted: Mounted | undefined;
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
  localStorage.clear();
});

const show = async (over: Handlers = {}) => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, cluster.id);
  const asked: TableQuery[] = [];
  const source = feed<TableItem>();
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [cluster], problems: [] }).handler,
    'kube.discovery': () => Promise.resolve(discovery),
    'kube.table': (query, signal) => {
      asked.push(query);
      return source.handler(undefined, signal);
    },
    ...over,
  });
  mounted = await mount(ResourcesPage, connection);
  await mounted.router.push('/workloads');
  await settle();
  const text = (): string => mounted!.root.textContent ?? '';
  return { source, asked, connection, text, root: mounted.root, router: mounted.router };
};

test('kinds of the category are tabs, in the order that operators use them', async () => {
  const { root } = await show();
  const tabs = [...root.querySelectorAll('nav a')].map((tab) => tab.textContent);
  expect(tabs).toEqual(['Pods', 'Deployments']);
});

test('the list is asked for all namespaces, and for another kind when its tab is followed', async () => {
  const { asked, router } = await show();
  await router.push('/workloads?kind=deployments.apps');
  await settle();
  // Definitions are followed besides, for the kinds that they bring.
  const lists = asked.filter(({ resource }) => resource.plural !== 'customresourcedefinitions');
  expect(lists.map((query) => [query.resource.plural, query.namespace])).toEqual([
    ['pods', null],
    ['deployments', null],
  ]);
});

test('a list that is empty says so, and where it looked', async () => {
  const { source, text } = await show();
  source.push({ kind: 'columns', columns: [column('Name'), column('Status')] });
  source.push({ kind: 'listed' });
  await settle();
  expect(text()).toContain('No Pods');
});

test('the filter hides rows and the foot counts what it hides', async () => {
  const { source, root, text } = await show();
  source.push({ kind: 'columns', columns: [column('Name'), column('Status')] });
  source.push(rows(row('a'), row('b', 'CrashLoopBackOff')));
  source.push({ kind: 'listed' });
  await settle();
  await click(root, 'Problems only');
  expect(text()).toContain('1 hidden by filters');
});

test('CPU and memory are columns where the cluster measures them, and nowhere else', async () => {
  const metrics = resource({
    group: 'metrics.k8s.io',
    version: 'v1beta1',
    kind: 'PodMetrics',
    verbs: ['list'],
  });
  const usage = { cpu: '12500000n', memory: '64Mi' };
  const heads = async (resources: KubeResource[]): Promise<string[]> => {
    const { source, root } = await show({
      'kube.discovery': () => Promise.resolve({ ...discovery, resources }),
      'kube.request': () =>
        Promise.resolve({
          ok: true,
          body: { items: [{ metadata: { namespace: 'web', name: 'a' }, containers: [{ usage }] }] },
        }),
    });
    source.push({ kind: 'columns', columns: [column('Name'), column('Status')] });
    source.push(rows(row('a')));
    source.push({ kind: 'listed' });
    await settle();
    const found = [...root.querySelectorAll('[role=columnheader]')].map(
      (head) => head.textContent?.trim() ?? '',
    );
    mounted?.unmount();
    return found.filter(Boolean);
  };
  expect(await heads([...discovery.resources])).not.toContain('CPU');
  expect((await heads([...discovery.resources, metrics])).slice(-2)).toEqual(['CPU', 'Memory']);
});

test('a list that may not be read says what the server said', async () => {
  const { text } = await show({
    'kube.table': async function* () {
      yield [];
      throw new ContractError(
        'Forbidden',
        verbatim('pods is forbidden: User "dev" cannot list resource "pods"'),
      );
    },
  });
  expect(text()).toContain('Cannot list Pods');
  expect(text()).toContain('User "dev" cannot list resource "pods"');
  expect(text()).toContain('Access denied');
  expect(text()).not.toContain('Loading');
});

test('a cluster that does not answer is reported, with the way to ask again', async () => {
  const { text } = await show({
    'kube.discovery': () =>
      Promise.reject(new ContractError('Unavailable', verbatim('connect ECONNREFUSED'))),
  });
  expect(text()).toContain('prod is not responding');
  expect(text()).toContain('ECONNREFUSED');
});

test('rejected credentials are distinguished, and a renewed kubeconfig is used automatically', async () => {
  let isRenewed = false;
  const list = feed<ClusterList>({ clusters: [cluster], problems: [] });
  const { text } = await show({
    'clusters.watch': list.handler,
    'kube.discovery': () =>
      isRenewed
        ? Promise.resolve(discovery)
        : Promise.reject(
            new ContractError(
              'Forbidden',
              verbatim('the client certificate expired on 2026-01-01; renew it'),
            ),
          ),
  });
  expect(text()).toContain('prod rejected your credentials');
  expect(text()).toContain('expired on 2026-01-01');
  isRenewed = true;
  list.push({ clusters: [cluster], problems: [] });
  await settle();
  expect(text()).not.toContain('does not accept');
});

test('a kubeconfig that cannot be read for a moment leaves the open list and its filter as they are', async () => {
  const list = feed<ClusterList>({ clusters: [cluster], problems: [] });
  const { source, root, text } = await show({ 'clusters.watch': list.handler });
  source.push({ kind: 'columns', columns: [column('Name'), column('Status')] });
  source.push(rows(row('a')));
  source.push({ kind: 'listed' });
  await settle();
  const filter = root.querySelector('input')!;
  await fill(filter, 'nowhere');
  list.push({ clusters: [], problems: [{ path: '/k', message: verbatim('it is not valid YAML') }] });
  await settle();
  expect([root.contains(filter), filter.value]).toEqual([true, 'nowhere']);
  list.push({ clusters: [], problems: [] });
  await settle();
  expect(text()).toContain('No cluster yet');
});

test('several are deleted together; only what was refused is asked for again', async () => {
  const asked: string[] = [];
  localStorage.setItem(CLUSTER_STORAGE_KEY, cluster.id);
  const targets = ['a', 'b', 'c'].map((name) => ({ namespace: 'web', name, uid: name }));
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [cluster], problems: [] }).handler,
    'kube.discovery': () => Promise.resolve(discovery),
    'kube.request': ({ method, path }) => {
      if (method === 'GET') return Promise.resolve({ ok: true, body: null });
      asked.push(path.split('/').at(-1)!);
      return Promise.resolve(
        asked.length === 2
          ? { ok: false, refusal: { code: 429, reason: 'TooManyRequests', message: 'try later', causes: [] } }
          : { ok: true, body: null },
      );
    },
  });
  mounted = await mount(
    defineComponent({ setup: () => () => h(DeleteDialog, { resource: resource({}), targets }) }),
    connection,
  );
  const dialog = document.querySelector<HTMLElement>('[role=dialog]')!;
  await fill(dialog.querySelector('input')!, '3');
  await click(dialog, 'Delete 3 Pods');
  expect(dialog.textContent).toContain('try later');
  await click(dialog, 'Delete 3 Pods');
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

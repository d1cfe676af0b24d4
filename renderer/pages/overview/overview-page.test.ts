// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineComponent, h } from 'vue';
import {
  type ClusterAction,
  type ClusterDefaults,
  type ClusterList,
  type ClusterWishes,
  type Handlers,
  type LocalClusterState,
  verbatim,
} from '../../../core/contract/index.ts';
import AskedAction from '../../operations/AskedAction.vue';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import {
  clusterState,
  nodeColumns,
  nodeRow,
  ownEntry,
  plane,
  podColumns,
  podRow,
  workersHost,
} from './overview-fixture.ts';
import OverviewPage from './OverviewPage.vue';

const defaults: ClusterDefaults = {
  wishes: {
    name: 'rehearsal',
    directory: null,
    topology: 'stacked',
    controlPlanes: 3,
    etcdMembers: 3,
    workers: 2,
    kubernetesVersion: 'v1.36.0',
  },
  parentDirectory: '/home/ada/clusters',
  kubernetesVersions: ['v1.36.0', 'v1.35.0'],
};

let mounted: Mounted;
const Page = defineComponent({ setup: () => () => [h(OverviewPage), h(AskedAction)] });
const text = () => mounted.root.textContent?.replaceAll(/\s+/g, ' ') ?? '';
const show = async (list: ClusterList, handlers: Handlers) => {
  const source = feed(list);
  mounted = await mount(Page, testConnection({ 'clusters.watch': source.handler, ...handlers }));
  return source;
};
const stateFeed = (first: LocalClusterState) => {
  const source = feed(first);
  const handler: Handlers['cluster.state'] = (_input, signal) => source.handler(undefined, signal);
  return { handler, push: source.push };
};
const running: Handlers = {
  'kube.table': async function* ({ resource }, signal) {
    const isPods = resource.plural === 'pods';
    yield [
      { kind: 'columns', columns: isPods ? podColumns : nodeColumns },
      {
        kind: 'rows',
        rows: isPods
          ? [
              podRow('web/shop-7d9f8b6c5-aaaaa'),
              podRow('web/shop-7d9f8b6c5-bbbbb', { status: 'CrashLoopBackOff' }),
            ]
          : [nodeRow('cp-1', 'Ready', true), nodeRow('worker-1'), nodeRow('worker-2')],
      },
      { kind: 'listed' },
    ];
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  },
};

beforeEach(() => {
  localStorage.clear();
  localStorage.setItem('pilothouse.cluster', '/data/harbor');
});
afterEach(() => mounted.unmount());

test('without a cluster the page offers to make one as the host proposes it', async () => {
  const asked: ClusterWishes[] = [];
  await show(
    { clusters: [], problems: [] },
    {
      'clusters.defaults': () => Promise.resolve(defaults),
      'clusters.create': (wishes) => {
        asked.push(wishes);
        return Promise.resolve({ cluster: '/home/ada/clusters/rehearsal' });
      },
    },
  );
  expect(text()).toContain('3 control planes');
  expect(text()).toContain('/home/ada/clusters/rehearsal');
  mounted.root.querySelector('form')?.dispatchEvent(new Event('submit'));
  await settle();
  expect([asked, localStorage.getItem('pilothouse.cluster')]).toEqual([
    [defaults.wishes],
    '/home/ada/clusters/rehearsal',
  ]);
});

test('a refusal of the host is reported beside the button', async () => {
  await show(
    { clusters: [], problems: [] },
    {
      'clusters.defaults': () => Promise.resolve(defaults),
      'clusters.create': () => Promise.reject(new Error('no')),
    },
  );
  mounted.root.querySelector('form')?.dispatchEvent(new Event('submit'));
  await settle();
  expect(mounted.root.querySelector('[role="alert"]')).not.toBeNull();
});

test('a start is shown stage by stage and becomes the map when it is ready', async () => {
  const state = stateFeed(
    clusterState({
      phase: 'starting',
      hosts: [plane(1, { phase: 'starting', components: [] }), workersHost],
    }),
  );
  await show(
    { clusters: [ownEntry('starting')], problems: [] },
    { ...running, 'cluster.state': state.handler },
  );
  expect(text()).toContain('Certificates and keys');
  expect(mounted.root.querySelector('.map')).toBeNull();
  state.push(clusterState());
  await settle();
  expect(text()).toContain('Quorum holds. Tolerates 1 more control-plane failure.');
  expect(mounted.root.querySelectorAll('article.host')).toHaveLength(3);
});

test('a start that failed says why and can be tried again', async () => {
  const started: string[] = [];
  await show(
    { clusters: [ownEntry('failed')], problems: [] },
    {
      'cluster.state': stateFeed(
        clusterState({ phase: 'failed', message: verbatim('port 6443 is taken; stop what holds it') }),
      ).handler,
      'clusters.start': ({ cluster }) => {
        started.push(cluster);
        return Promise.resolve(undefined);
      },
    },
  );
  expect(text()).toContain('Port 6443 is taken; stop what holds it.');
  await click(mounted.root, 'Retry');
  expect(started).toEqual(['/data/harbor']);
});

test('the map shows load balancer, hosts, leaders, nodes and what needs a person', async () => {
  await show(
    { clusters: [ownEntry()], problems: [] },
    { ...running, 'cluster.state': stateFeed(clusterState()).handler },
  );
  expect(text()).toContain('127.21.0.100:6443');
  expect(text()).toContain('3 of 3 backends ready');
  expect(mounted.root.querySelectorAll('article.host')[0]?.querySelectorAll('.leads')).toHaveLength(4);
  expect(mounted.root.querySelectorAll('a.node')).toHaveLength(2);
  expect(text()).toContain('CrashLoopBackOff: 1 of 2 pods');
});

test('a host is killed from its menu, after its consequence was shown', async () => {
  const asked: ClusterAction[] = [];
  await show(
    { clusters: [ownEntry()], problems: [] },
    {
      ...running,
      'cluster.state': stateFeed(clusterState()).handler,
      'cluster.preview': () =>
        Promise.resolve({
          verdict: 'degraded',
          quorum: { voters: 3, needed: 2, healthyNow: 3, votersAfter: 3, neededAfter: 2, healthyAfter: 2 },
          effects: [],
        }),
      'cluster.act': ({ action }) => {
        asked.push(action);
        return Promise.resolve({ operation: 'op-1' });
      },
    },
  );
  const trigger = mounted.root.querySelector<HTMLElement>('[aria-label="Actions for cp-2"]')!;
  trigger.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  await settle();
  const item = [...document.querySelectorAll<HTMLElement>('[role="menuitem"]')].find((each) =>
    each.textContent?.includes('Kill cp-2'),
  );
  item?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  item?.click();
  await settle();
  const dialog = document.querySelector<HTMLElement>('[role="dialog"]')!;
  expect(dialog.textContent).toContain('tolerates no more failures');
  await click(dialog, 'Kill cp-2');
  expect(asked).toEqual([{ kind: 'host.kill', host: 'cp-2' }]);
});

test('a killed host is reported in words and in the sentence of the page', async () => {
  const state = stateFeed(clusterState());
  await show({ clusters: [ownEntry()], problems: [] }, { ...running, 'cluster.state': state.handler });
  state.push(clusterState({ hosts: [plane(1), plane(2, { phase: 'killed' }), plane(3), workersHost] }));
  await settle();
  expect(text()).toContain('Quorum holds. Tolerates no more failures.');
  expect(mounted.root.querySelector('[aria-label="Host cp-2"]')?.textContent).toContain('Killed');
});

test('a cluster from a kubeconfig has the same page without acts on hosts', async () => {
  await show(
    { clusters: [{ ...ownEntry(), origin: 'kubeconfig', local: null, readOnly: true }], problems: [] },
    running,
  );
  expect(text()).toContain('All 3 nodes are Ready.');
  expect(mounted.root.querySelector('.target-menu')).toBeNull();
});

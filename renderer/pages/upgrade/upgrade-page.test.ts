// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  say,
  type ClusterEntry,
  type Finding,
  type Handlers,
  type Operation,
  type UpgradePlan,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import ChecklistPage from '../checklist/ChecklistPage.vue';
import UpgradePage from './UpgradePage.vue';
import { componentsOf, releasesOf, versionRows } from './versions.ts';

const entry: ClusterEntry = {
  id: '/data/harbour',
  name: 'harbour',
  origin: 'local',
  server: 'https://127.21.0.100:6443',
  user: 'admin',
  namespace: 'default',
  kubeconfigPath: '/data/harbour/kubeconfig/admin.conf',
  readOnly: false,
  local: { directory: '/data/harbour', phase: 'ready', kubernetesVersion: 'v1.35.0' },
};
const ok: Finding = {
  id: 'etcd',
  verdict: 'ok',
  message: say('found.etcd.ok', { count: 3 }),
  advice: null,
};
const bad: Finding = {
  id: 'nodes',
  verdict: 'problem',
  message: say('found.nodes.notReady', { nodes: 'n1' }),
  advice: say('advice.nodes'),
};
const plan = (more: Partial<UpgradePlan> = {}): UpgradePlan => ({
  current: 'v1.35.0',
  targets: ['v1.36.0'],
  hosts: [
    {
      host: 'cp-1',
      components: { etcd: 'v3.6.0', 'kube-scheduler': 'v1.35.0', 'kube-apiserver': 'v1.36.0' },
    },
  ],
  nodes: [
    { node: 'cp-1', version: 'v1.35.0' },
    { node: 'worker-1', version: 'v1.35.0' },
  ],
  checks: [ok],
  removals: [],
  steps: [{ id: 'apiserver/cp-1', title: say('step.upgrade.apiserver', { host: 'cp-1' }) }],
  unfinished: null,
  previous: null,
  ...more,
});

let mounted: Mounted;
const show = async (page: typeof UpgradePage, handlers: Handlers) => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, entry.id);
  const connection = testConnection({
    'clusters.watch': feed({ clusters: [entry], problems: [] }).handler,
    'cluster.operations': feed<Operation[]>([]).handler as never,
    ...handlers,
  });
  mounted = await mount(page, connection);
  await settle();
};
const text = () => mounted.root.textContent ?? '';
const button = (label: string) =>
  [...document.querySelectorAll<HTMLButtonElement>('button')].find((one) => one.textContent?.includes(label));

beforeEach(() => localStorage.clear());
afterEach(() => mounted?.unmount());

test('the plan says where to, what runs where and what will be done', async () => {
  await show(UpgradePage, { 'upgrade.plan': () => Promise.resolve(plan()) });
  expect(text()).toContain('Runs v1.35.0. Next version: v1.36.0.');
  expect(text()).toContain('mixed: v1.35.0, v1.36.0');
  expect(text()).toContain('Upgrade the API server on cp-1');
  // What may block the upgrade comes above the table.
  expect(text().indexOf('Preflight checks')).toBeGreaterThan(-1);
  expect(text().indexOf('Preflight checks')).toBeLessThan(text().indexOf('Component versions'));
  expect(button('Upgrade to v1.36.0')?.getAttribute('aria-disabled')).toBeNull();
});

test('a problem keeps an upgrade from beginning', async () => {
  await show(UpgradePage, { 'upgrade.plan': () => Promise.resolve(plan({ checks: [ok, bad] })) });
  expect(button('Upgrade to v1.36.0')?.getAttribute('aria-disabled')).toBe('true');
});

test('an upgrade that was left half done can continue or be taken back', async () => {
  await show(UpgradePage, { 'upgrade.plan': () => Promise.resolve(plan({ unfinished: 'v1.36.0' })) });
  expect(text()).toContain('The upgrade to v1.36.0 is incomplete.');
  expect([button('Resume upgrade to v1.36.0'), button('Roll back')].every(Boolean)).toBe(true);
});

test('a late answer does not bring an upgrade back that has ended; it can be rolled back', async () => {
  const answers: ((value: UpgradePlan) => void)[] = [];
  const running: Operation = {
    id: 'op-7',
    action: { kind: 'upgrade.apply', version: 'v1.36.0' },
    state: 'running',
    startedAtMs: 1,
    endedAtMs: null,
    steps: [],
    message: null,
    canPause: true,
    command: '',
  };
  const operations = feed<Operation[]>([running]);
  await show(UpgradePage, {
    'upgrade.plan': () => new Promise((resolve) => answers.push(resolve)),
    'cluster.operations': operations.handler as never,
  });
  const before = answers.length;
  operations.push([{ ...running, state: 'done', endedAtMs: 2 }]);
  await settle();
  expect(answers.length).toBe(before + 1);
  answers.at(-1)!(plan({ current: 'v1.36.0', targets: [], previous: 'v1.35.0' }));
  await settle();
  for (const late of answers.slice(0, -1)) late(plan({ unfinished: 'v1.36.0' }));
  await settle();
  expect(button('Roll back to v1.35.0')).toBeTruthy();
  expect(text()).not.toContain('An upgrade to v1.36.0');
});

test('an upgrade that runs is paused from here', async () => {
  const paused: unknown[] = [];
  const operation: Operation = {
    id: 'op-7',
    action: { kind: 'upgrade.apply', version: 'v1.36.0' },
    state: 'running',
    startedAtMs: 1,
    endedAtMs: null,
    steps: [
      {
        id: 's',
        title: say('step.upgrade.apiserver', { host: 'cp-1' }),
        state: 'running',
        detail: null,
        startedAtMs: 1,
        endedAtMs: null,
      },
    ],
    message: null,
    canPause: true,
    command: '',
  };
  await show(UpgradePage, {
    'upgrade.plan': () => Promise.resolve(plan()),
    'cluster.operations': feed<Operation[]>([operation]).handler as never,
    'cluster.pauseOperation': (input) => {
      paused.push(input);
      return Promise.resolve(undefined);
    },
  });
  await click(mounted.root, 'Pause after this step');
  expect(paused).toEqual([{ cluster: '/data/harbour', operation: 'op-7', isPaused: true }]);
});

test('a node that is a host is one row, and etcd has releases of its own', () => {
  const rows = versionRows(plan());
  expect(rows.map(({ name }) => name)).toEqual(['cp-1', 'worker-1']);
  expect(componentsOf(rows)).toEqual(['kube-apiserver', 'kube-scheduler', 'kubelet']);
  expect(releasesOf(rows)).toEqual(['v1.35.0', 'v1.36.0']);
});

test('the checklist counts its findings and shows the worst first', async () => {
  await show(ChecklistPage as never, { 'cluster.checks': () => Promise.resolve([ok, bad]) });
  expect(text()).toContain('1 of 2 passed.');
  expect(text().indexOf('not Ready: n1')).toBeLessThan(text().indexOf('3 members are healthy'));
  expect(text()).toContain('check them with kubectl describe node');
});

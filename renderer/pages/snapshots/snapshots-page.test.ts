// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  ContractError,
  type Backups,
  type ClusterEntry,
  type Handlers,
  type Operation,
  type SnapshotComparison,
  type SnapshotFile,
  say,
  verbatim,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import SnapshotsPage from './SnapshotsPage.vue';

const entry: ClusterEntry = {
  id: '/data/harbour',
  name: 'harbour',
  origin: 'local',
  server: 'https://127.21.0.100:6443',
  user: 'admin',
  namespace: 'default',
  kubeconfigPath: '/data/harbour/kubeconfig/admin.conf',
  readOnly: false,
  local: { directory: '/data/harbour', phase: 'ready', kubernetesVersion: 'v1.36.0' },
};
const file = (name: string, more: Partial<SnapshotFile> = {}): SnapshotFile => ({
  file: `/data/harbour/backups/${name}`,
  name,
  bytes: 4_194_304,
  createdAtMs: Date.now() - 60_000,
  revision: 1200,
  keys: 321,
  hash: 'abcd1234',
  isScheduled: false,
  problem: null,
  ...more,
});
const backups = (...files: SnapshotFile[]): Backups => ({
  directory: '/data/harbour/backups',
  files,
  schedule: { enabled: false, everyMinutes: 60, keep: 24 },
  nextAtMs: null,
});
const comparison: SnapshotComparison = {
  file: file('etcd-1.db'),
  revisionNow: 1500,
  rows: [
    { resource: 'configmaps', now: 3, inSnapshot: 3, comesBack: [], goes: [] },
    {
      resource: 'pods',
      now: 5,
      inSnapshot: 4,
      comesBack: ['shop/web-1'],
      goes: ['shop/new-1', 'shop/new-2'],
    },
  ],
};
const restoring = (state: Operation['state']): Operation => ({
  id: 'op-1',
  action: { kind: 'snapshot.restore', file: comparison.file.file },
  state,
  startedAtMs: Date.now() - 3000,
  endedAtMs: state === 'running' ? null : Date.now(),
  steps: [
    {
      id: 'check',
      title: say('step.restore.check'),
      state: 'done',
      detail: null,
      startedAtMs: 1,
      endedAtMs: 2,
    },
  ],
  message: state === 'running' ? null : verbatim('321 keys are back'),
  canPause: false,
  command: '',
});

let mounted: Mounted;
const show = async (handlers: Handlers = {}, path = '/snapshots') => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, entry.id);
  const connection = testConnection({
    'clusters.watch': feed({ clusters: [entry], problems: [] }).handler,
    'backups.watch': feed(
      backups(file('etcd-1.db'), file('etcd-2.db', { problem: verbatim('page 3 is torn') })),
    ).handler as never,
    'backups.compare': () => Promise.resolve(comparison),
    'cluster.operations': feed<Operation[]>([]).handler as never,
    ...handlers,
  });
  mounted = await mount(SnapshotsPage, connection);
  await mounted.router.push(path);
  await settle();
};
const text = () => mounted.root.textContent ?? '';
const button = (label: string) =>
  [...document.querySelectorAll<HTMLButtonElement>('button')].find((one) =>
    one.textContent?.includes(label),
  )!;
const type = (input: HTMLInputElement, value: string): void => {
  input.value = value;
  input.dispatchEvent(new Event('input'));
};

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('snapshots are listed, and a damaged one cannot be restored', async () => {
  await show();
  expect(text()).toContain('2 snapshots.');
  expect(text()).toContain('Damaged');
  const restores = [...document.querySelectorAll('button')].filter(
    (one) => one.textContent?.trim() === 'Restore',
  );
  expect(restores.map((one) => one.getAttribute('aria-disabled'))).toEqual([null, 'true']);
});

test('without a snapshot the page says what one is and how to take it', async () => {
  await show({ 'backups.watch': feed(backups()).handler as never });
  expect(text()).toContain('No snapshots yet');
  expect(text()).toContain('pilothouse snapshot save --data /data/harbour');
});

test('a restore says what goes and what comes back, and waits for both checks and the name', async () => {
  const acted: unknown[] = [];
  const operations = feed<Operation[]>([]);
  await show(
    {
      'cluster.operations': operations.handler as never,
      'cluster.act': (input) => {
        acted.push(input);
        return Promise.resolve({ operation: 'op-1' });
      },
    },
    `/snapshots?restore=${encodeURIComponent(comparison.file.file)}`,
  );
  expect(text()).toContain('shop/web-1');
  const go = () => button('Restore harbour');
  expect(go().getAttribute('aria-disabled')).toBe('true');
  for (const box of document.querySelectorAll<HTMLInputElement>('input[type=checkbox]')) {
    box.checked = true;
    box.dispatchEvent(new Event('change'));
  }
  await settle();
  expect(go().getAttribute('aria-disabled')).toBe('true');
  type(document.querySelector<HTMLInputElement>('input:not([type=checkbox])')!, 'harbour');
  await settle();
  await click(mounted.root, 'Restore harbour');
  expect(acted).toEqual([
    { cluster: '/data/harbour', action: { kind: 'snapshot.restore', file: comparison.file.file } },
  ]);
  operations.push([restoring('done')]);
  await settle();
  expect(text()).toContain('321 keys are back');
  expect(text()).toContain('The cluster now runs on the snapshot.');
});

test('a file that cannot be read is reported with its reason, and nothing is offered that could harm', async () => {
  await show(
    { 'backups.compare': () => Promise.reject(new ContractError('BadRequest', verbatim('page 3 is torn'))) },
    '/snapshots?restore=%2Fx.db',
  );
  expect(text()).toContain('Cannot restore x.db');
  expect(text()).toContain('Nothing was changed.');
  expect(button('Restore harbour')).toBeUndefined();
});

test('a schedule that is being changed stays when another one is set elsewhere; an untouched one follows', async () => {
  const watched = feed(backups(file('etcd-1.db')));
  await show({ 'backups.watch': watched.handler as never });
  const keep = () => mounted.root.querySelector<HTMLInputElement>('form input[type=text]')!;
  const setElsewhere = async (count: number): Promise<void> => {
    watched.push({
      ...backups(file('etcd-1.db')),
      schedule: { enabled: true, everyMinutes: 60, keep: count },
    });
    await settle();
  };
  await setElsewhere(12);
  expect(keep().value).toBe('12');
  type(keep(), '7');
  await settle();
  await setElsewhere(48);
  expect(keep().value).toBe('7');
});

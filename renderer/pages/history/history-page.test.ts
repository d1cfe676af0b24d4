// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  ContractError,
  say,
  type ClusterEntry,
  type Handlers,
  type HistoryMoments,
  type HistoryVersion,
  type RestoreStep,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import HistoryPage from './HistoryPage.vue';

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
const KEY = '/registry/configmaps/default/tides';
const PLACE = { group: '', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const moments: HistoryMoments = {
  oldest: 900,
  newest: 1200,
  samples: [],
  snapshots: [],
  problem: null,
};
const contents = { revision: 1000, rows: [{ ...PLACE, count: 1 }], namespaces: [] };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tides' }, data: { high: '06:12' } };
const stored = { exists: true, modRevision: 950, createRevision: 900, version: 2, object, problem: null };

let mounted: Mounted;
const show = async (address: string, handlers: Handlers, of: ClusterEntry = entry): Promise<void> => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, of.id);
  mounted = await mount(
    HistoryPage,
    testConnection({
      'clusters.watch': feed({ clusters: [of], problems: [] }).handler,
      'history.moments': () => Promise.resolve(moments),
      'history.contents': () => Promise.resolve(contents),
      'history.list': () => Promise.resolve({ revision: 1000, rows: [], total: 0 }),
      'history.object': () => Promise.resolve(stored),
      ...handlers,
    }),
  );
  await mounted.router.push(address);
  await settle();
};
const text = (): string => (document.body.textContent ?? '').replaceAll(/\s+/g, ' ');

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('a compacted revision is refused with the revisions that there are, and now is one click away', async () => {
  await show('/history?revision=5', {
    'history.contents': ({ at }) =>
      at.kind === 'now'
        ? Promise.resolve(contents)
        : Promise.reject(
            new ContractError(
              'Unavailable',
              say('failure.history.compacted', { revision: 5, oldest: 900, newest: 1200 }),
            ),
          ),
  });
  expect(text()).toContain('revision 5 was compacted; etcd has revisions 900 to 1,200');
  await click(mounted.root.querySelector('.state') ?? mounted.root, 'Now');
  expect(text()).not.toContain('was compacted');
  expect(text()).toContain('configmaps');
});

test('a damaged snapshot says what is wrong with it, and nothing of it is listed', async () => {
  await show('/history?snapshot=/backups/broken.db', {
    'history.contents': () =>
      Promise.reject(
        new ContractError('BadRequest', say('verbatim', { text: '/backups/broken.db: page 7 is damaged' })),
      ),
  });
  expect(text()).toContain('This moment cannot be read');
  expect(text()).toContain('page 7 is damaged');
  expect(mounted.root.querySelector('nav.kinds')).toBeNull();
});

test('a cluster whose etcd is not accessible offers snapshot files and says why it has no more', async () => {
  await show(
    '/history',
    {
      'history.moments': () =>
        Promise.resolve({ ...moments, oldest: 0, newest: 0, problem: say('failure.history.foreign') }),
    },
    { ...entry, id: 'staging', origin: 'kubeconfig', local: null },
  );
  expect(text()).toContain('the etcd of this cluster is not accessible');
  expect(text()).toContain('A snapshot file can be browsed and restored from.');
});

test('versions say what is not known: a time, an author, users without an audit log', async () => {
  const version = (revision: number, more: Partial<HistoryVersion> = {}): HistoryVersion => ({
    at: { kind: 'revision', revision },
    revision,
    isDeleted: false,
    atMs: null,
    timeFrom: 'none',
    manager: '',
    operation: '',
    user: '',
    verb: '',
    auditId: '',
    ...more,
  });
  await show(`/history?kind=/configmaps&key=${KEY}`, {
    'history.versions': () =>
      Promise.resolve({
        versions: [version(950), version(900, { manager: 'kubectl', operation: 'Apply' })],
        isCut: false,
        oldestRevision: 900,
        auditFromMs: null,
        hasAudit: false,
      }),
  });
  await click(mounted.root, 'Versions');
  expect(text()).toContain('950time unknown author unknown');
  expect(text()).toContain('field manager kubectl (Apply)');
  expect(text()).toContain('etcd keeps revisions since 900; older versions are known from snapshots only.');
  expect(text()).toContain('Audit logging is off, so users are unknown.');
});

test('a value that cannot be decrypted is named, and is not shown as an empty object', async () => {
  await show(`/history?kind=/configmaps&key=${KEY}`, {
    'history.object': () =>
      Promise.resolve({
        ...stored,
        object: null,
        problem: say('failure.history.encrypted', { key: KEY, prefix: 'k8s:enc:secretbox:v1:old' }),
      }),
  });
  expect(text()).toContain('The stored value cannot be read');
  expect(text()).toContain('no given key decrypts it');
});

const counts = { created: 0, replaced: 0, unchanged: 0, skipped: 0, failed: 0 };

test('a restore shows how far it is; stopping it ends it and says what was done', async () => {
  let isStopped = false;
  const steps: RestoreStep[] = [{ total: 400, counts: { ...counts, created: 120 }, report: null }];
  await show('/history?revision=1000', {
    'history.restore': async function* ({ dryRun }, signal) {
      if (dryRun)
        yield [{ total: 400, counts, report: { counts: { ...counts, created: 400 }, objects: [] } }];
      else {
        yield steps;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        isStopped = true;
      }
    },
  });
  await click(mounted.root, 'Restore everything');
  expect(text()).toContain('400 would be created');
  const dialog = (): HTMLElement => document.querySelector<HTMLElement>('[role=dialog]')!;
  await click(dialog(), 'Restore');
  expect(dialog().querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')).toBe('120');
  expect(text()).toContain('120 of 400 objects');
  await click(dialog(), 'Stop');
  expect(isStopped).toBe(true);
  expect(text()).toContain('stopped before it was finished');
  expect(text()).toContain('(120 created)');
});

// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type ClusterEntry,
  type EtcdEvent,
  type EtcdView,
  type Handlers,
  verbatim,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import { memberFixture } from './raft-fixture.ts';
import RaftPage from './RaftPage.vue';

const entry = (more: Partial<ClusterEntry> = {}): ClusterEntry => ({
  id: '/data/harbour',
  name: 'harbour',
  origin: 'local',
  server: 'https://127.21.0.100:6443',
  user: 'admin',
  namespace: 'default',
  kubeconfigPath: '/data/harbour/kubeconfig/admin.conf',
  readOnly: false,
  local: { directory: '/data/harbour', phase: 'ready', kubernetesVersion: 'v1.36.0' },
  ...more,
});
const view = (...members: EtcdView['members']): EtcdView => ({ atMs: Date.now(), members, problem: null });
const three = () =>
  view(
    memberFixture('cp-1'),
    memberFixture('cp-2', { role: 'leader', peerRoundTripMs: null }),
    memberFixture('cp-3'),
  );
const events = (): EtcdEvent[] => [
  { kind: 'leader', atMs: Date.now() - 60_000, member: 'cp-1', term: 13, durationMs: null },
  { kind: 'leaderLost', atMs: Date.now() - 30_000, member: 'cp-1', term: 13, durationMs: null },
  { kind: 'leader', atMs: Date.now() - 28_800, member: 'cp-2', term: 14, durationMs: 1200 },
];

let mounted: Mounted;
const show = async (cluster: ClusterEntry, handlers: Handlers = {}, path = '/raft') => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, cluster.id);
  const connection = testConnection({
    'clusters.watch': feed({ clusters: [cluster], problems: [] }).handler,
    'etcd.members': feed(three()).handler as never,
    'etcd.timeline': feed(events()).handler as never,
    ...handlers,
  });
  mounted = await mount(RaftPage, connection);
  await mounted.router.push(path);
  await settle();
  return connection;
};
const dialog = () => document.querySelector<HTMLElement>('[role="dialog"]');
const text = () => mounted.root.textContent ?? '';

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('the page says who leads which term, and what quorum is needed', async () => {
  await show(entry());
  expect(text()).toMatch(/Leader: cp-2, term 14, for \d+ s\. 3 voters, quorum 2\./);
  expect(text()).toContain('3 of 3 healthy: tolerates 1 more failure.');
  expect(text()).toContain('1 election in 1 h, longest time without a leader 1.2 s');
});

test('a member that is switched off is not stopped: the page says what would be left, and what to do first', async () => {
  const asked: unknown[] = [];
  await show(entry(), {
    'cluster.act': (input) => {
      asked.push(input);
      return Promise.resolve({ operation: '1' });
    },
  });
  mounted.root.querySelectorAll<HTMLElement>('[role="switch"]')[1]!.click();
  await settle();
  expect(text()).toContain('Stopping cp-2 leaves 2 of 3: quorum holds but tolerates no more failures.');
  expect(text()).toContain('Move leader to cp-1 first');
  expect(asked).toEqual([]);
});

test('an action is asked about with its preview and both command lines before it is begun', async () => {
  const asked: unknown[] = [];
  await show(entry(), {
    'cluster.preview': () => Promise.resolve({ verdict: 'safe', quorum: null, effects: [] }),
    'cluster.act': (input) => {
      asked.push(input);
      return Promise.resolve({ operation: '1' });
    },
  });
  window.dispatchEvent(new KeyboardEvent('keydown', { key: 'm' }));
  await settle();
  const lines = [...(dialog()?.querySelectorAll('code') ?? [])].map((line) => line.textContent);
  expect(lines).toEqual([
    'pilothouse member move-leader cp-1 --data /data/harbour',
    expect.stringMatching(
      /^etcdctl --endpoints=https:\/\/127\.21\.0\.2:2379 .* move-leader 8e9e05c5216cp-1$/,
    ),
  ]);
  expect(asked).toEqual([]);
  await click(dialog()!, 'Move leader to cp-1');
  expect(asked).toEqual([
    { cluster: '/data/harbour', action: { kind: 'member.moveLeader', member: 'cp-1' } },
  ]);
});

test('an address can ask for an action, once', async () => {
  await show(
    entry(),
    { 'cluster.preview': () => Promise.resolve({ verdict: 'safe', quorum: null, effects: [] }) },
    '/raft?act=defragment',
  );
  expect(dialog()?.textContent).toContain('Defragment all members?');
  expect(mounted.router.currentRoute.value.query).toEqual({});
});

test('the history is a table too', async () => {
  await show(entry());
  await click(mounted.root, 'Table');
  const rows = [...mounted.root.querySelectorAll('table[aria-label="Terms and elections"] tbody tr')];
  expect(rows.map((row) => row.querySelectorAll('td')[0]?.textContent)).toEqual([
    'cp-2 became leader',
    'cp-1 is no longer leader',
    'cp-1 became leader',
  ]);
});

test('without a leader the page says that nothing can be written', async () => {
  const away = { role: 'unreachable', problem: verbatim('connection refused') } as const;
  const members = feed(view(memberFixture('cp-1'), memberFixture('cp-2', away), memberFixture('cp-3', away)));
  await show(entry(), { 'etcd.members': members.handler as never });
  expect(text()).toContain('No leader: writes fail.');
  expect(text()).toContain('1 of 3 healthy, 2 needed: no quorum, writes fail.');
});

test('of a cluster from a kubeconfig the page says why there is nothing, and asks the host nothing', async () => {
  const connection = await show(entry({ origin: 'kubeconfig', local: null }));
  expect(text()).toContain('The etcd of harbour is not accessible');
  // The list of clusters, and nothing about etcd.
  expect(connection.openStreamCount).toBe(1);
});

test('a stopped cluster can be started from here', async () => {
  const started: unknown[] = [];
  await show(
    entry({ local: { directory: '/data/harbour', phase: 'stopped', kubernetesVersion: 'v1.36.0' } }),
    {
      'clusters.start': (input) => {
        started.push(input);
        return Promise.resolve(undefined);
      },
    },
  );
  await click(mounted.root, 'Start harbour');
  expect(started).toEqual([{ cluster: '/data/harbour' }]);
});

test('hashes are compared when a person asks, and locks and users are read when they are chosen', async () => {
  await show(entry(), {
    'etcd.hashes': () =>
      Promise.resolve({
        revision: 1200,
        verdict: 'different' as const,
        members: [
          { id: 'a', name: 'cp-1', hash: 0xabc, compactRevision: 1000 },
          { id: 'b', name: 'cp-2', hash: 7, compactRevision: 1000 },
          { id: 'c', name: 'cp-3', problem: verbatim('connection refused') },
        ],
      }),
    'etcd.locks': () =>
      Promise.resolve([
        {
          name: 'nightly',
          kind: 'lock' as const,
          claims: [
            { key: 'nightly/1f', lease: '1f', ttlSeconds: 42, createRevision: 5, value: '' },
            { key: 'nightly/2f', lease: '2f', ttlSeconds: 60, createRevision: 9, value: '' },
          ],
        },
      ]),
    'etcd.auth': () =>
      Promise.resolve({
        isEnabled: true,
        revision: 3,
        users: [{ name: 'root', roles: ['root'] }],
        roles: [
          {
            name: 'reader',
            permissions: [{ type: 'read' as const, key: '/registry/', rangeEnd: '/registry0' }],
          },
        ],
      }),
  });
  expect(text()).toContain('Hashes the keys of every member');
  await click(mounted.root, 'Compare');
  expect(text()).toMatch(
    /Members have different keys at revision 1,200.*cp-1.*00000abc.*cp-3.*connection refused/,
  );
  await click(mounted.root, 'Locks');
  expect(text()).toMatch(/nightly.*holds the lock.*1f.*42 s.*waits.*2f/);
  await click(mounted.root, 'Users');
  expect(text()).toMatch(/Auth enabled, revision 3.*root.*reader.*read.*\[\/registry\/, \/registry0\)/);
});

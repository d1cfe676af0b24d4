// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ContractError, type Handlers, type LeasesView, verbatim } from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import { leaseFixture } from './lease-fixture.ts';
import LeasesPage from './LeasesPage.vue';

const entry = {
  id: 'staging',
  name: 'staging',
  origin: 'kubeconfig',
  server: 'https://staging.example:6443',
  user: 'ada',
  namespace: 'default',
  kubeconfigPath: '/home/ada/.kube/config',
  readOnly: true,
  local: null,
} as const;
/** The clock of the server is an hour ahead: ages must not show it. */
const serverNow = () => Date.now() + 3_600_000;
const fresh = () => ({ acquiredAtMs: serverNow() - 90_000, renewedAtMs: serverNow() - 1000 });
const node = (name: string, ageMs: number) =>
  leaseFixture(name, {
    namespace: 'kube-node-lease',
    kind: 'node',
    holder: name,
    durationSeconds: 40,
    renewedAtMs: serverNow() - ageMs,
    renewGapsSeconds: [10, 10, 10],
  });
const view = (leases: LeasesView['leases']): LeasesView => ({
  atMs: serverNow(),
  watchedSinceMs: serverNow() - 600_000,
  leases,
});
const some = () =>
  view([
    leaseFixture('kube-scheduler', {
      ...fresh(),
      segments: [
        { holder: 'cp-3', fromMs: serverNow() - 300_000, toMs: serverNow() - 106_000 },
        { holder: 'cp-1', fromMs: serverNow() - 90_000, toMs: null },
      ],
    }),
    leaseFixture('kube-controller-manager', { ...fresh(), renewedAtMs: serverNow() - 20_000 }),
    leaseFixture('apiserver-abc', { ...fresh(), kind: 'server', durationSeconds: 3600 }),
    node('worker-1', 4000),
    node('worker-2', 31_000),
  ]);

let mounted: Mounted;
const show = async (handlers: Handlers) => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, 'staging');
  mounted = await mount(
    LeasesPage,
    testConnection({
      'clusters.watch': feed({ clusters: [entry], problems: [] }).handler,
      ...handlers,
    }),
  );
  await mounted.router.push('/leases');
  await settle();
};
const text = () => mounted.root.textContent ?? '';
const rows = (label: string) =>
  [...mounted.root.querySelectorAll(`table[aria-label="${label}"] tbody tr`)].map(
    (row) => row.textContent ?? '',
  );

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('ages are counted by the clock of the server; what ran out comes first', async () => {
  await show({ 'leases.watch': feed(some()).handler as never });
  const [first, second] = rows('Leader election');
  expect(first).toMatch(/kube-controller-manager.*Expired, up for election/);
  expect(second).toMatch(/kube-scheduler.*cp-1.*1 min 3\d s.*Held/);
  expect(text()).toContain('1 lease has no holder. Watching 5 leases.');
});

test('the hand-over of a lease and the time without a holder are in the table of the history', async () => {
  await show({ 'leases.watch': feed(some()).handler as never });
  await click(mounted.root, 'Table');
  const told = rows('Holder history').filter((row) => row.includes('kube-scheduler'));
  expect(told.map((row) => /cp-\d|No holder/.exec(row)?.[0])).toEqual(['cp-1', 'No holder', 'cp-3']);
});

test('a node that did not renew is named, with what follows', async () => {
  await show({ 'leases.watch': feed(some()).handler as never });
  expect(text()).toMatch(/worker-2 has not renewed its lease for 3\d s\./);
  expect(text()).toMatch(/worker-2: renewed 3\d s ago, longest interval 3\d s, 1 of 4 renewals missed/);
});

test('of a thousand nodes only those in view are in the page', async () => {
  const nodes = Array.from({ length: 1000 }, (_, index) => node(`worker-${index}`, 1000));
  await show({ 'leases.watch': feed(view(nodes)).handler as never });
  expect(text()).toContain('1,000 nodes');
  expect(mounted.root.querySelectorAll('li a.name').length).toBe(13);
});

test('a refusal says which right is missing and how to ask for it', async () => {
  await show({
    'leases.watch': async function* () {
      await Promise.resolve();
      throw new ContractError('Forbidden', verbatim('leases is forbidden: User "ada" cannot list'));
    },
  });
  expect(text()).toContain('leases is forbidden: User "ada" cannot list');
  expect(mounted.root.querySelector('code')?.textContent).toContain('auth can-i watch leases');
});

// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type CertificateView,
  ContractError,
  type Handlers,
  type Operation,
  verbatim,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import { certificateFixture } from './certificate-fixture.ts';
import CertificatesPage from './CertificatesPage.vue';

const DAY_MS = 86_400_000;
const entry = (local: object | null) => ({
  id: '/data/harbour',
  name: 'harbour',
  origin: local ? 'local' : 'kubeconfig',
  server: 'https://harbour.example:6443',
  user: 'admin',
  namespace: 'default',
  kubeconfigPath: '/data/harbour/kubeconfig/admin.conf',
  readOnly: false,
  local,
});
const ours = entry({ directory: '/data/harbour', phase: 'ready', kubernetesVersion: 'v1.36.0' });
const good = { notAfterMs: Date.now() + 200 * DAY_MS };
const list = (): CertificateView[] => [
  certificateFixture('ca', { kind: 'authority', usages: [], notAfterMs: Date.now() + 3650 * DAY_MS }),
  certificateFixture('hosts/cp-1/apiserver', {
    ...good,
    served: { address: '127.21.0.11:6443', serial: '5c1e90a7', notAfterMs: good.notAfterMs },
  }),
  certificateFixture('hosts/cp-3/apiserver', {
    ...good,
    served: { address: '127.21.0.13:6443', serial: '2f8803d1', notAfterMs: Date.now() + 21.5 * DAY_MS },
  }),
  certificateFixture('admin.conf', {
    kind: 'kubeconfig',
    usages: ['client'],
    notAfterMs: Date.now() - DAY_MS,
  }),
];

let mounted: Mounted;
const show = async (handlers: Handlers, cluster: object = ours, path = '/certificates') => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, '/data/harbour');
  mounted = await mount(
    CertificatesPage,
    testConnection({
      'clusters.watch': feed({ clusters: [cluster], problems: [] }).handler as never,
      'cluster.operations': feed<Operation[]>([]).handler as never,
      'cluster.preview': () => Promise.resolve({ verdict: 'safe', quorum: null, effects: [] }),
      ...handlers,
    }),
  );
  await mounted.router.push(path);
  await settle();
};
const text = () => mounted.root.textContent ?? '';
const dialog = () => document.querySelector<HTMLElement>('[role="dialog"]');
const names = () =>
  [...mounted.root.querySelectorAll('button.open')].map((button) => button.getAttribute('title'));

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('expired certificates come first, then those served stale', async () => {
  await show({ 'certificates.list': () => Promise.resolve(list()) });
  expect(names()).toEqual(['admin.conf', 'hosts/cp-3/apiserver', 'hosts/cp-1/apiserver']);
  expect(text()).toContain('1 CA, 3 certificates. 1 has expired. 1 server still serves the old certificate.');
});

test('the details lay file and served side by side and mark what differs', async () => {
  await show({ 'certificates.list': () => Promise.resolve(list()) });
  mounted.root.querySelector<HTMLElement>('button.open[title="hosts/cp-3/apiserver"]')!.click();
  await settle();
  const drawer = mounted.root.querySelector('aside')!;
  expect(drawer.textContent).toContain('Renewed on disk, but not served yet.');
  expect([...drawer.querySelectorAll('.differs')].map((cell) => cell.textContent?.trim())[0]).toBe(
    '2f:88:03:d1',
  );
  await click(drawer, 'Close');
  expect(mounted.root.querySelector('aside')).toBeNull();
});

test('chosen certificates are renewed after the question, by their names', async () => {
  const asked: unknown[] = [];
  await show({
    'certificates.list': () => Promise.resolve(list()),
    'cluster.act': (input) => {
      asked.push(input);
      return Promise.resolve({ operation: '1' });
    },
  });
  mounted.root.querySelector<HTMLInputElement>('input[aria-label="Select admin.conf"]')!.click();
  await settle();
  await click(mounted.root, 'Renew 1 selected');
  expect(dialog()?.querySelector('code')?.textContent).toBe(
    'pilothouse certs renew admin.conf --data /data/harbour',
  );
  await click(dialog()!, 'Renew 1 certificate');
  expect(asked).toEqual([
    { cluster: '/data/harbour', action: { kind: 'certificates.renew', names: ['admin.conf'] } },
  ]);
});

test('after an operation the servers are probed again', async () => {
  let probes = 0;
  const operation = (state: Operation['state']): Operation => ({
    id: '1',
    action: { kind: 'certificates.renew', names: null },
    state,
    startedAtMs: 0,
    endedAtMs: null,
    steps: [],
    message: null,
    canPause: false,
    command: '',
  });
  const operations = feed([operation('running')]);
  await show({
    'certificates.list': () => {
      probes += 1;
      return Promise.resolve(list());
    },
    'cluster.operations': operations.handler as never,
  });
  expect(probes).toBe(1);
  operations.push([operation('done')]);
  await settle();
  expect(probes).toBe(2);
});

test('words and authorities narrow the table; nothing found can be undone', async () => {
  await show({ 'certificates.list': () => Promise.resolve(list()) });
  const filter = mounted.root.querySelector<HTMLInputElement>('input[data-filter]')!;
  filter.value = 'cp-1';
  filter.dispatchEvent(new Event('input'));
  await settle();
  expect(names()).toEqual(['hosts/cp-1/apiserver']);
  filter.value = 'nothing of the kind';
  filter.dispatchEvent(new Event('input'));
  await settle();
  await click(mounted.root, 'Clear filters');
  expect(names()).toHaveLength(3);
});

test('a failure to read is reported with its reason, and can be tried again', async () => {
  let isBroken = true;
  await show({
    'certificates.list': () =>
      isBroken
        ? Promise.reject(new ContractError('Internal', verbatim('pki/ca.crt: permission denied')))
        : Promise.resolve(list()),
  });
  expect(text()).toContain('pki/ca.crt: permission denied');
  isBroken = false;
  await click(mounted.root, 'Retry');
  expect(names()).toHaveLength(3);
});

test('of a cluster from a kubeconfig the page says why nothing can be shown', async () => {
  await show({}, entry(null));
  expect(text()).toContain('The certificates of harbour are not accessible');
  expect(mounted.root.querySelector('code')?.textContent).toContain(
    'openssl s_client -connect harbour.example:6443',
  );
});

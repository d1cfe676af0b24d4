// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ContractError, say, verbatim, type Handlers } from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import DoctorPage from './DoctorPage.vue';

const entry = {
  id: 'staging',
  name: 'staging',
  origin: 'kubeconfig',
  server: 'https://staging.example:6443',
  user: 'ada',
  namespace: 'default',
  kubeconfigPath: '/home/ada/.kube/config',
  readOnly: false,
  local: null,
} as const;

let mounted: Mounted;
const show = async (handlers: Handlers): Promise<void> => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, entry.id);
  const clusters = feed({ clusters: [entry], problems: [] });
  mounted = await mount(
    DoctorPage,
    testConnection({
      'clusters.watch': clusters.handler,
      'cluster.operations': feed([]).handler as never,
      ...handlers,
    }),
  );
  await settle();
};
const text = (): string => (mounted.root.textContent ?? '').replaceAll(/\s+/g, ' ');

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('a problem comes first, with its evidence, remedy and a button', async () => {
  await show({
    'doctor.examine': () =>
      Promise.resolve({
        findings: [
          { id: 'doctorApi', verdict: 'ok', message: say('diagnosis.api.answers'), advice: null },
          {
            id: 'doctorNodes',
            verdict: 'problem',
            message: say('diagnosis.nodes.notReady', { names: 'w-1' }),
            evidence: [say('cause.node', { node: 'w-1', reason: 'no heartbeat' })],
            advice: say('remedy.nodes'),
            fix: { kind: 'page', path: '/cluster?kind=nodes' },
          },
        ],
        gaps: ['leases: forbidden'],
      }),
  });
  const items = [...mounted.root.querySelectorAll('.findings > li')];
  expect(items[0]?.textContent).toContain('w-1 not ready');
  expect(items[0]?.textContent).toContain('w-1: no heartbeat');
  expect(items[0]?.querySelector('button')).not.toBeNull();
  expect(text()).toContain('1 problem');
  expect(text()).toContain('leases: forbidden');
});

test('an examination that fails says why', async () => {
  await show({
    'doctor.examine': () => Promise.reject(new ContractError('Unavailable', verbatim('no route'))),
  });
  expect(text()).toContain('Examination failed');
  expect(text()).toContain('no route');
});

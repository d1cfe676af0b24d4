// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  ContractError,
  say,
  verbatim,
  type Handlers,
  type TimelineItem,
} from '../../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../../stores/clusters.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import TimelinePage from './TimelinePage.vue';

const entry = {
  id: '/data/desk',
  name: 'desk',
  origin: 'local',
  server: 'https://127.2.0.100:6443',
  user: 'kubernetes-admin',
  namespace: 'default',
  kubeconfigPath: '/data/desk/kubeconfig/admin.conf',
  readOnly: false,
  local: { directory: '/data/desk', phase: 'stopped', kubernetesVersion: 'v1.36.0' },
} as const;

const story = (nowMs: number): TimelineItem => {
  const moment = { endMs: null, isOpen: false, source: null, cause: null } as const;
  return {
    isComplete: true,
    damagedLines: 2,
    entries: [
      {
        ...moment,
        id: 1,
        atMs: nowMs - 60_000,
        lane: 'operator',
        kind: 'action',
        severity: 'ok',
        about: ['cp-1'],
        text: say('timeline.action', { command: 'pilothouse host kill cp-1' }),
      },
      {
        ...moment,
        id: 2,
        atMs: nowMs - 59_000,
        lane: 'processes',
        kind: 'hostKilled',
        severity: 'error',
        about: ['cp-1'],
        text: say('timeline.hostKilled', { host: 'cp-1' }),
        cause: 1,
        source: '/',
      },
    ],
  };
};

let mounted: Mounted;
const show = async (handlers: Handlers, of: object = entry): Promise<void> => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, entry.id);
  const clusters = feed({ clusters: [{ ...entry, ...of }], problems: [] });
  mounted = await mount(TimelinePage, testConnection({ 'clusters.watch': clusters.handler, ...handlers }));
  await settle();
};
const text = (): string => (mounted.root.textContent ?? '').replaceAll(/\s+/g, ' ');

beforeEach(() => localStorage.clear());
afterEach(() => mounted.unmount());

test('the timeline of a stopped cluster is read, with causes, and says what could not be read', async () => {
  await show({ 'timeline.watch': feed(story(Date.now())).handler as never });
  expect(text()).toContain('2 entries · 2 lines unreadable');
  expect(text()).toContain('Host cp-1 was killed');
  const rows = [...mounted.root.querySelectorAll('tbody tr')];
  expect(rows[0]?.textContent).toContain('pilothouse host kill cp-1');
  await click(rows[0]!, 'Host cp-1 was killed');
  expect(text()).toContain('Most likely causes, nearest first');
  expect(text()).toContain('Open source');
});

test('lanes are hidden by a click', async () => {
  await show({ 'timeline.watch': feed(story(Date.now())).handler as never });
  await click(mounted.root.querySelector('.filters')!, 'Processes');
  expect(mounted.root.querySelectorAll('tbody tr')).toHaveLength(1);
});

test('an empty recording, a denial and a foreign cluster are each explained', async () => {
  await show({ 'timeline.watch': feed({ entries: [], isComplete: true, damagedLines: 0 }).handler as never });
  expect(text()).toContain('Nothing recorded yet');
  mounted.unmount();
  const refusal = new ContractError('Unimplemented', verbatim('not here'));
  await show({
    'timeline.watch': async function* () {
      await Promise.resolve();
      throw refusal;
    },
  });
  expect(text()).toContain('Cannot read the timeline');
  mounted.unmount();
  await show({}, { local: null, origin: 'kubeconfig' });
  expect(text()).toContain('Timelines are recorded by the process that runs a cluster.');
});

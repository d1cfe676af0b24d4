// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest';
import { defineComponent, h, ref, type Component, type Ref } from 'vue';
import type { ClusterList, FoundItem, KubeResource } from '../../core/contract/index.ts';
import { CLUSTER_STORAGE_KEY } from '../stores/clusters.ts';
import { useDiscoveryStore } from '../stores/discovery.ts';
import { feed, mount, settle, testConnection, type Mounted } from '../testing/mount.ts';
import CommandPalette from './CommandPalette.vue';
import type { PaletteEntry } from '../pages/page.ts';
import { PALETTE_RESULTS_PER_GROUP_MAX, paletteResults } from './palette-results.ts';

const entry = (
  id: string,
  group: PaletteEntry['group'],
  title: string,
  more: Partial<PaletteEntry> = {},
): PaletteEntry => ({
  id,
  group,
  title,
  icon: 'cluster',
  run: vi.fn(),
  ...more,
});
const entries = [
  entry('clusters', 'places', 'Clusters'),
  entry('settings', 'places', 'Settings'),
  entry('open', 'actions', 'Open kubeconfig…', { keywords: 'add cluster' }),
  entry('staging', 'objects', 'Use staging-eu'),
];

const ids = (query: string) =>
  paletteResults(entries, query).map(({ group, results }) => [
    group,
    results.map((result) => result.entry.id),
  ]);

test('without a query everything is listed: places, actions, objects', () => {
  expect(ids('')).toEqual([
    ['places', ['clusters', 'settings']],
    ['actions', ['open']],
    ['objects', ['staging']],
  ]);
});

test('the group with the best match comes first; hidden words count, after shown ones', () => {
  expect(ids('stag')).toEqual([['objects', ['staging']]]);
  expect(ids('cluster')).toEqual([
    ['places', ['clusters']],
    ['actions', ['open']],
  ]);
});

test('a group shows a bounded number of results', () => {
  const many = Array.from({ length: 50 }, (_, index) => entry(`pod-${index}`, 'objects', `Pod web-${index}`));
  expect(paletteResults(many, 'web')[0]?.results.length).toBe(PALETTE_RESULTS_PER_GROUP_MAX);
});

let mounted: Mounted | undefined;
afterEach(() => mounted?.unmount());

const paletteOf = (open: Ref<boolean>, props: { readonly cluster?: string } = {}): Component =>
  defineComponent({
    setup: () => {
      if (props.cluster !== undefined) useDiscoveryStore();
      return () =>
        h(CommandPalette, {
          entries,
          ...props,
          open: open.value,
          'onUpdate:open': (value: boolean) => (open.value = value),
        });
    },
  });

const openPalette = async () => {
  const open = ref(true);
  mounted = await mount(paletteOf(open), testConnection({}));
  open.value = true;
  await settle();
  const input = document.querySelector<HTMLInputElement>('[role="combobox"]')!;
  const press = async (key: string) => {
    input.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    await settle();
  };
  const type = async (text: string) => {
    input.value = text;
    input.dispatchEvent(new Event('input'));
    await settle();
  };
  return { open, input, press, type };
};

test('arrows move the active option round the list and tell the field which it is', async () => {
  const { input, press } = await openPalette();
  const active = () => input.getAttribute('aria-activedescendant');
  const walk = [active()];
  for (const key of ['ArrowDown', 'ArrowUp', 'ArrowUp']) {
    await press(key);
    walk.push(active());
  }
  expect(walk).toEqual(['palette-clusters', 'palette-settings', 'palette-clusters', 'palette-staging']);
});

test('Enter runs the active entry and closes the palette', async () => {
  const { open, press, type } = await openPalette();
  await type('kubec');
  await press('Enter');
  expect(entries[2]?.run).toHaveBeenCalledOnce();
  expect(open.value).toBe(false);
});

test('a query that finds nothing says so and Enter does nothing', async () => {
  const { open, press, type } = await openPalette();
  await type('zzz');
  await press('Enter');
  expect(document.body.textContent).toContain('No results for “zzz”.');
  expect(open.value).toBe(true);
});

const POD: KubeResource = {
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  singular: 'pod',
  shortNames: ['po'],
  categories: [],
  verbs: ['list', 'watch'],
  subresources: [],
  isPreferred: true,
};
const CLUSTER = {
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

test('objects are searched while two letters are typed and at no other time; Tab shows what can be done', async () => {
  localStorage.setItem(CLUSTER_STORAGE_KEY, CLUSTER.id);
  const found = feed<FoundItem>();
  let searches = 0;
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [CLUSTER], problems: [] }).handler,
    'kube.discovery': () => Promise.resolve({ serverVersion: '', resources: [POD], failed: [] }),
    'kube.search': async function* (_input, signal) {
      searches += 1;
      try {
        yield* found.handler(undefined, signal);
      } finally {
        searches -= 1;
      }
    },
  });
  const open = ref(false);
  mounted = await mount(paletteOf(open, { cluster: CLUSTER.id }), connection);
  open.value = true;
  await settle();
  const input = document.querySelector<HTMLInputElement>('[role="combobox"]')!;
  const type = async (text: string): Promise<void> => {
    input.value = text;
    input.dispatchEvent(new Event('input'));
    await settle();
  };
  const options = (): string[] =>
    [...document.querySelectorAll('[role="option"]')].map((option) => option.textContent ?? '');
  await type('z');
  expect(searches).toBe(0);
  await type('zebra');
  expect(searches).toBe(1);
  const pod = { resource: 'pods', namespace: 'zoo', name: 'zebra-1', labels: '', addresses: ['10.0.0.4'] };
  found.push({ kind: 'objects', objects: [pod] });
  await settle();
  expect(options()).toEqual(['zebra-1Pod, zoo, 10.0.0.4']);
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true }));
  await settle();
  expect([searches, options().includes('Logs'), options().includes('Delete')]).toEqual([0, true, true]);
  open.value = false;
  await settle();
  expect(searches).toBe(0);
  localStorage.clear();
});

import { afterEach, expect, test, vi } from 'vitest';
import { defineComponent, h, ref } from 'vue';
import { mount, settle, testConnection, type Mounted } from '../testing/mount.ts';
import CommandPalette from './CommandPalette.vue';
import type { PaletteEntry } from './page.ts';
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

const openPalette = async () => {
  const open = ref(true);
  mounted = await mount(
    defineComponent({
      render: () =>
        h(CommandPalette, {
          entries,
          open: open.value,
          'onUpdate:open': (value: boolean) => (open.value = value),
        }),
    }),
    testConnection({}),
  );
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

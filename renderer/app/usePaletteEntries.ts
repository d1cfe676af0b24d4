import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';
import { t } from '../locales/i18n.ts';
import { useConnectionStore } from '../stores/connection.ts';
import { PINS_MAX, useHotbar } from '../stores/hotbar.ts';
import { useLayerStore } from '../stores/layers.ts';
import { useThemeStore } from '../stores/theme.ts';
import type { PaletteEntry } from '../pages/page.ts';
import { pages } from '../pages/pages.ts';

/** Everything that can be reached or run by typing: pages, what pages declare, and the shell's own. */
export const usePaletteEntries = (): ComputedRef<readonly PaletteEntry[]> => {
  const router = useRouter();
  const theme = useThemeStore();
  const layers = useLayerStore();
  const connection = useConnectionStore();

  const places = (): PaletteEntry[] =>
    pages.map((page) => ({
      id: `page-${page.id}`,
      group: 'places',
      icon: page.icon,
      title: t(page.title),
      ...(page.goKey && { keys: ['G', page.goKey] }),
      run: () => router.push(page.path),
    }));

  const hotbar = useHotbar();
  const route = useRoute();
  /** `Workloads: default/web`: where one is, as far as the address tells. */
  const placeTitle = (): string => {
    const page = pages.find(({ id }) => id === route.name);
    const { open, filter, kind } = route.query;
    const part = [open, filter, kind].find((one) => typeof one === 'string' && one !== '');
    return [page ? t(page.title) : route.path, ...(part === undefined ? [] : [String(part)])].join(': ');
  };
  const pinning = (): PaletteEntry[] => {
    const address = route.fullPath;
    if (hotbar.has(address))
      return [
        {
          id: 'hotbar-unpin',
          group: 'actions',
          icon: 'close',
          title: t('hotbar.unpin'),
          run: () => hotbar.unpin(address),
        },
      ];
    if (hotbar.pins.length >= PINS_MAX) return [];
    return [
      {
        id: 'hotbar-pin',
        group: 'actions',
        icon: 'plus',
        title: t('hotbar.pin'),
        hint: placeTitle(),
        keywords: t('hotbar.keywords'),
        run: () => hotbar.pin({ title: placeTitle(), address }),
      },
    ];
  };

  const shell = (): PaletteEntry[] => [
    ...pinning(),
    ...(['light', 'dark', 'system'] as const)
      .filter((choice) => choice !== theme.choice)
      .map((choice): PaletteEntry => ({
        id: `theme-${choice}`,
        group: 'actions',
        icon: choice === 'light' ? 'sun' : choice === 'dark' ? 'moon' : 'screen',
        title: t(`palette.action.theme.${choice}`),
        keywords: t('palette.action.theme.keywords'),
        run: () => theme.choose(choice),
      })),
    {
      id: 'shortcuts',
      group: 'actions',
      icon: 'keyboard',
      title: t('palette.action.shortcuts'),
      keys: ['?'],
      run: () => layers.openShortcuts(),
    },
    ...(connection.state.phase === 'lost'
      ? [
          {
            id: 'retry',
            group: 'actions',
            icon: 'refresh',
            title: t('palette.action.retry'),
            run: () => connection.retryNow(),
          } satisfies PaletteEntry,
        ]
      : []),
  ];

  return computed(() => [...places(), ...pages.flatMap((page) => page.palette?.() ?? []), ...shell()]);
};

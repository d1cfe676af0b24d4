import { computed, type ComputedRef } from 'vue';
import { useRouter } from 'vue-router';
import { t } from '../locales/i18n.ts';
import { useConnectionStore } from '../stores/connection.ts';
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

  const shell = (): PaletteEntry[] => [
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

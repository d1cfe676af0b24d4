import { defineStore } from 'pinia';
import { computed, onScopeDispose, ref, watch } from 'vue';
import type { Settings } from '../../core/contract/index.ts';
import { readRemembered, remember } from './remembered.ts';
import { useSettingsStore } from './settings.ts';

export type ThemeChoice = Settings['theme'];

/** Read by public/theme-boot.js before the first paint. */
export const THEME_STORAGE_KEY = 'pilothouse.theme';

const rememberedChoice = (): ThemeChoice => {
  const stored = readRemembered(THEME_STORAGE_KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
};

/** Light or dark, as chosen or as the system prefers, on the `data-theme` of the document. */
export const useThemeStore = defineStore('theme', () => {
  const settings = useSettingsStore();
  const media = window.matchMedia('(prefers-color-scheme: dark)');
  const systemIsDark = ref(media.matches);
  const onChange = (event: MediaQueryListEvent): void => {
    systemIsDark.value = event.matches;
  };
  media.addEventListener('change', onChange);
  onScopeDispose(() => media.removeEventListener('change', onChange));

  const remembered = rememberedChoice();
  const choice = computed<ThemeChoice>(() => (settings.loaded ? settings.current.theme : remembered));
  const resolved = computed(() => {
    if (choice.value !== 'system') return choice.value;
    return systemIsDark.value ? 'dark' : 'light';
  });

  watch(
    resolved,
    (theme) => {
      document.documentElement.dataset['theme'] = theme;
    },
    { immediate: true, flush: 'sync' },
  );
  watch(choice, (theme) => remember(THEME_STORAGE_KEY, theme), { flush: 'sync' });

  return { choice, resolved, choose: (theme: ThemeChoice) => settings.save({ theme }) };
});

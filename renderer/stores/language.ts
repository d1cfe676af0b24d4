import { defineStore } from 'pinia';
import { computed, watch } from 'vue';
import { locale, matchLocale, setLocale } from '../locales/i18n.ts';
import { useSettingsStore } from './settings.ts';

/** Makes the chosen language the one that is shown, and tells assistive technology which it is. */
export const useLanguageStore = defineStore('language', () => {
  const settings = useSettingsStore();
  const chosen = computed(() => {
    const choice = settings.current.locale;
    return choice === 'system' ? matchLocale(navigator.languages) : choice;
  });
  watch(chosen, (next) => void setLocale(next), { immediate: true });
  watch(locale, (shown) => (document.documentElement.lang = shown), { immediate: true });
  return { shown: locale };
});

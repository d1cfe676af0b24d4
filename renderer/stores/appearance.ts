import { defineStore } from 'pinia';
import { computed, watch } from 'vue';
import type { Settings } from '../../core/contract/index.ts';
import { useSettingsStore } from './settings.ts';

/** As tokens.css has them; lists need the number to know which rows are in view. */
const ROW_PX: Readonly<Record<Settings['density'], number>> = { compact: 24, normal: 28, roomy: 36 };
const TEXT_SCALE: Readonly<Record<Settings['textSize'], number>> = { small: 0.92, normal: 1, large: 1.17 };

/** How dense lists are and how large text is, on the document for the style sheets. */
export const useAppearanceStore = defineStore('appearance', () => {
  const settings = useSettingsStore();
  watch(
    () => [settings.current.density, settings.current.textSize] as const,
    ([density, textSize]) => {
      document.documentElement.dataset['density'] = density;
      document.documentElement.dataset['text'] = textSize;
    },
    { immediate: true },
  );
  return {
    rowPx: computed(() => ROW_PX[settings.current.density]),
    textScale: computed(() => TEXT_SCALE[settings.current.textSize]),
  };
});

import { useWindowSize } from '@vueuse/core';
import { computed, ref, watch, type ComputedRef, type Ref } from 'vue';
import { readRemembered, remember } from './remembered.ts';

/** The width that a person gave a pane, within what the window has room for. It survives a reload. */
export const usePaneWidth = (
  name: string,
  options: { readonly usualPx: number; readonly minPx: number; readonly shareMax: number },
): { readonly widthPx: Ref<number>; readonly maxPx: ComputedRef<number> } => {
  const key = `pilothouse.pane.${name}`;
  const { width } = useWindowSize();
  const maxPx = computed(() => Math.max(options.minPx, Math.round(width.value * options.shareMax)));
  const kept = Number(readRemembered(key));
  const wishedPx = ref(Number.isFinite(kept) && kept > 0 ? kept : options.usualPx);
  watch(wishedPx, (px) => remember(key, px === options.usualPx ? undefined : `${px}`));
  const widthPx = computed({
    get: () => Math.min(maxPx.value, Math.max(options.minPx, wishedPx.value)),
    set: (px) => (wishedPx.value = px),
  });
  return { widthPx, maxPx };
};

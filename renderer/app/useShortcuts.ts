import { onScopeDispose } from 'vue';
import { useRouter } from 'vue-router';
import { isEditing } from '../composables/is-editing.ts';
import { useLayerStore } from '../stores/layers.ts';
import { pages } from '../pages/pages.ts';
import { isPaletteKey } from './platform-keys.ts';

/** After G, the next key has to come within this time. */
const SEQUENCE_MS = 1_500;

const focusFilter = (): boolean => {
  const filter = document.querySelector<HTMLInputElement>('main input[data-filter]');
  filter?.focus();
  return filter !== null;
};

/** The keys that work everywhere: palette, help, documentation, filter, and G followed by a page's letter. */
export const useShortcuts = (): void => {
  const layers = useLayerStore();
  const router = useRouter();
  let goPressedAtMs = -Infinity;

  const onPlainKey = (event: KeyboardEvent): boolean => {
    const afterGo = event.timeStamp - goPressedAtMs < SEQUENCE_MS;
    goPressedAtMs = -Infinity;
    const key = event.key.toUpperCase();
    const target = afterGo ? pages.find((page) => page.goKey === key) : undefined;
    if (target) void router.push(target.path);
    else if (key === 'G') goPressedAtMs = event.timeStamp;
    else if (key === '?') layers.openShortcuts();
    // As k9s has it: a kind or a page by name.
    else if (key === ':') layers.openPalette();
    else return key === '/' && focusFilter();
    return true;
  };

  const onKeydown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const editing = isEditing(event.target);
    // In a single line the palette's keys mean nothing; an editor and a shell have uses of their own for them.
    if (isPaletteKey(event) && (!editing || event.target instanceof HTMLInputElement)) {
      event.preventDefault();
      return layers.openPalette();
    }
    if (event.key === 'F1') {
      event.preventDefault();
      return void router.push('/help');
    }
    const layerOpen = document.querySelector('[role="dialog"][data-state="open"]') !== null;
    if (event.ctrlKey || event.metaKey || event.altKey || layerOpen || editing) return;
    if (onPlainKey(event)) event.preventDefault();
  };

  window.addEventListener('keydown', onKeydown);
  onScopeDispose(() => window.removeEventListener('keydown', onKeydown));
};

import { onScopeDispose } from 'vue';
import { useRouter } from 'vue-router';
import { useLayerStore } from '../stores/layers.ts';
import { pages } from './pages.ts';
import { isPaletteKey } from './platform-keys.ts';

/** After G, the next key has to come within this time. */
const SEQUENCE_MS = 1_500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));

const focusFilter = (): boolean => {
  const filter = document.querySelector<HTMLInputElement>('main input[data-filter]');
  filter?.focus();
  return filter !== null;
};

/** The keys that work everywhere: palette, help, filter, and G followed by a page's letter. */
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
    else return key === '/' && focusFilter();
    return true;
  };

  const onKeydown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    if (isPaletteKey(event)) {
      event.preventDefault();
      return layers.openPalette();
    }
    const layerOpen = document.querySelector('[role="dialog"][data-state="open"]') !== null;
    if (event.ctrlKey || event.metaKey || event.altKey || layerOpen || isTyping(event.target)) return;
    if (onPlainKey(event)) event.preventDefault();
  };

  window.addEventListener('keydown', onKeydown);
  onScopeDispose(() => window.removeEventListener('keydown', onKeydown));
};

import { onScopeDispose } from 'vue';
import { useRouter } from 'vue-router';
import { goSequence } from '../composables/go-sequence.ts';
import { isEditing } from '../composables/is-editing.ts';
import { useHotbar } from '../stores/hotbar.ts';
import { useLayerStore } from '../stores/layers.ts';
import { useToastStore } from '../stores/toasts.ts';
import { pages } from '../pages/pages.ts';
import { isPaletteKey } from './platform-keys.ts';

const focusFilter = (): boolean => {
  const filter = document.querySelector<HTMLInputElement>('main input[data-filter]');
  filter?.focus();
  return filter !== null;
};

/** The keys that work everywhere: palette, help, documentation, undo, filter, and G followed by a page's letter. */
export const useShortcuts = (): void => {
  const layers = useLayerStore();
  const router = useRouter();
  const hotbar = useHotbar();
  const toasts = useToastStore();
  const isAfterGo = goSequence();

  const onPlainKey = (event: KeyboardEvent): boolean => {
    const afterGo = isAfterGo(event);
    const key = event.key.toUpperCase();
    const target = afterGo ? pages.find((page) => page.goKey === key) : undefined;
    const pinned = afterGo && /^[1-9]$/.test(key) ? hotbar.pins[Number(key) - 1] : undefined;
    if (target) void router.push(target.path);
    else if (pinned) void router.push(pinned.address);
    else if (key === 'G') return true;
    else if (key === '?') layers.openShortcuts();
    // As k9s has it: a kind or a page by name.
    else if (key === ':') layers.openPalette();
    else return key === '/' && focusFilter();
    return true;
  };

  const onKeydown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const editing = isEditing(event.target);
    // In a single line these keys mean nothing; an editor and a shell have uses of their own for them.
    const isFree = !editing || event.target instanceof HTMLInputElement;
    if (isPaletteKey(event) && isFree) {
      event.preventDefault();
      return layers.openPalette();
    }
    if (event.key === 'F1') {
      event.preventDefault();
      return void router.push('/help');
    }
    const layerOpen = document.querySelector('[role="dialog"][data-state="open"]') !== null;
    if (event.ctrlKey || event.metaKey || event.altKey || layerOpen) return;
    if (event.key === 'F9' && isFree && toasts.undoNewest()) return event.preventDefault();
    if (editing) return;
    if (onPlainKey(event)) event.preventDefault();
  };

  window.addEventListener('keydown', onKeydown);
  onScopeDispose(() => window.removeEventListener('keydown', onKeydown));
};

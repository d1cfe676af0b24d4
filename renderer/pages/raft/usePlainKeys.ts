import { onScopeDispose } from 'vue';
import { isEditing } from '../../composables/is-editing.ts';

/** Single letters of a page, while nothing is typed and no layer is open. The shell's own keys come first. */
export const usePlainKeys = (run: (key: string) => boolean): void => {
  const onKeydown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || isEditing(event.target)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('[role="dialog"][data-state="open"], [role="menu"][data-state="open"]'))
      return;
    if (run(event.key.toUpperCase())) event.preventDefault();
  };
  window.addEventListener('keydown', onKeydown);
  onScopeDispose(() => window.removeEventListener('keydown', onKeydown));
};

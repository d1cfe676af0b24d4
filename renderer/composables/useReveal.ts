import { onScopeDispose, ref, type Ref } from 'vue';

/** Long enough to read or copy, short enough for a person who walks away. */
export const REVEALED_MS = 30_000;

/** Which of several secrets are shown. Each hides again on its own. */
export const useReveal = (): {
  readonly shown: Readonly<Ref<ReadonlySet<string>>>;
  toggle(key: string): void;
  hideAll(): void;
} => {
  const shown = ref<ReadonlySet<string>>(new Set());
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const hide = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
    shown.value = new Set([...shown.value].filter((each) => each !== key));
  };
  const hideAll = (): void => {
    for (const key of [...timers.keys()]) hide(key);
  };
  onScopeDispose(hideAll);
  return {
    shown,
    hideAll,
    toggle(key) {
      if (shown.value.has(key)) return hide(key);
      shown.value = new Set([...shown.value, key]);
      timers.set(
        key,
        setTimeout(() => hide(key), REVEALED_MS),
      );
    },
  };
};

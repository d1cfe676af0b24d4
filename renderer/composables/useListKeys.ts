import { computed, ref, watch, type Ref } from 'vue';

/**
 * A list worked from its search field: the field keeps the focus, arrows move the active option, Enter
 * runs it. The active option follows its key, so it stays put while results come and go.
 */
export const useListKeys = (
  keys: Readonly<Ref<readonly string[]>>,
  run: (key: string) => void,
): {
  readonly active: Readonly<Ref<string | undefined>>;
  activate(key: string): void;
  first(): void;
  onKeydown(event: KeyboardEvent): void;
} => {
  const wanted = ref<string>();
  const active = computed(() =>
    wanted.value !== undefined && keys.value.includes(wanted.value) ? wanted.value : keys.value[0],
  );

  const move = (step: number): void => {
    const count = keys.value.length;
    if (count === 0) return;
    const at = active.value === undefined ? -1 : keys.value.indexOf(active.value);
    wanted.value = keys.value[(at + step + count) % count];
  };

  watch(
    active,
    (key) => {
      if (key !== undefined) document.getElementById(key)?.scrollIntoView({ block: 'nearest' });
    },
    { flush: 'post' },
  );

  return {
    active,
    activate: (key) => (wanted.value = key),
    first: () => (wanted.value = undefined),
    onKeydown(event) {
      if (event.isComposing) return;
      if (event.key === 'ArrowDown') move(1);
      else if (event.key === 'ArrowUp') move(-1);
      else if (event.key === 'Home' && event.ctrlKey) wanted.value = keys.value[0];
      else if (event.key === 'End' && event.ctrlKey) wanted.value = keys.value.at(-1);
      else if (event.key === 'Enter' && active.value !== undefined) run(active.value);
      else return;
      event.preventDefault();
    },
  };
};

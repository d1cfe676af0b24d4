import { computed, nextTick, ref, type ComputedRef, type Ref } from 'vue';

export interface Stop {
  readonly id: string;
  readonly label: string;
}

/**
 * The marks of a graphic as one stop of the Tab key: arrows go from mark to mark, Home and End to the ends. Marks
 * carry `data-stop`. The place is kept by id, so that it stays while marks come and go.
 */
export const useStops = (
  stops: Readonly<Ref<readonly Stop[]>>,
): {
  /** The one that Tab reaches. */
  readonly reachable: ComputedRef<string | undefined>;
  /** The one whose words are shown: pointed at, or focused. */
  readonly shown: ComputedRef<Stop | undefined>;
  point(id: string | undefined): void;
  focus(id: string | undefined): void;
  onKeydown(event: KeyboardEvent): void;
} => {
  const last = ref<string>();
  const focused = ref<string>();
  const pointed = ref<string>();
  const find = (id: string | undefined): Stop | undefined => stops.value.find((stop) => stop.id === id);
  const reachable = computed(() => find(last.value)?.id ?? stops.value.at(-1)?.id);
  const shown = computed(() => find(pointed.value) ?? find(focused.value));

  const targetOf = (key: string): Stop | undefined => {
    const at = stops.value.findIndex((stop) => stop.id === reachable.value);
    if (key === 'ArrowRight') return stops.value[Math.min(stops.value.length - 1, at + 1)];
    if (key === 'ArrowLeft') return stops.value[Math.max(0, at - 1)];
    if (key === 'Home') return stops.value[0];
    return key === 'End' ? stops.value.at(-1) : undefined;
  };

  return {
    reachable,
    shown,
    point: (id) => (pointed.value = id),
    focus(id) {
      focused.value = id;
      if (id !== undefined) last.value = id;
    },
    onKeydown(event) {
      const target = targetOf(event.key);
      const holder = event.currentTarget;
      if (!target || !(holder instanceof Element)) return;
      event.preventDefault();
      last.value = target.id;
      void nextTick(() =>
        [...holder.querySelectorAll<SVGElement>('[data-stop]')]
          .find((mark) => mark.dataset['stop'] === target.id)
          ?.focus(),
      );
    },
  };
};

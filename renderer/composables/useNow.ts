import { effectScope, onScopeDispose, readonly, ref, watch, type Ref } from 'vue';
import { usePageVisible } from './usePageVisible.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

interface Beat {
  readonly now: Readonly<Ref<number>>;
  /** Beats until what this returns is called. */
  join(): () => void;
}

/** Wall-clock time that moves on each full period, while it is used and the page is visible. */
const createBeat = (periodMs: number): Beat => {
  const now = ref(Date.now());
  const users = ref(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  // On the full period, so that every age on the page and the clock change in one frame.
  const tick = (): void => {
    now.value = Date.now();
    timer = setTimeout(tick, periodMs - (now.value % periodMs));
  };
  const visible = usePageVisible();
  // For the life of the page: not of the component that happens to ask first.
  effectScope(true).run(() =>
    watch(
      () => users.value > 0 && visible.value,
      (isBeating) => {
        clearTimeout(timer);
        if (isBeating) tick();
      },
      { flush: 'sync' },
    ),
  );
  return {
    now: readonly(now),
    join() {
      users.value += 1;
      return () => (users.value -= 1);
    },
  };
};

const second = createBeat(SECOND_MS);
const minute = createBeat(MINUTE_MS);

const always = (): boolean => true;

const useBeat = (beat: Beat, isWanted: () => boolean): Readonly<Ref<number>> => {
  let leave: (() => void) | undefined;
  watch(
    isWanted,
    (wants) => {
      leave?.();
      leave = wants ? beat.join() : undefined;
    },
    { immediate: true, flush: 'sync' },
  );
  onScopeDispose(() => leave?.());
  return beat.now;
};

/** Wall-clock time that moves once a second, shared by everything that shows an age; it stops while nothing reads it. */
export const useNow = (isWanted: () => boolean = always): Readonly<Ref<number>> => useBeat(second, isWanted);

/** Wall-clock time that moves once a minute: a clock that is never looked at must not repaint every second. */
export const useMinute = (): Readonly<Ref<number>> => useBeat(minute, always);

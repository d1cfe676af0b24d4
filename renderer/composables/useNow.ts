import { onScopeDispose, readonly, ref, type Ref } from 'vue';
import { usePageVisible } from './usePageVisible.ts';

const TICK_MS = 1000;

const now = ref(Date.now());
let users = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

// On the full second, so that every age on the page and the clock change in one frame.
const tick = (): void => {
  const visible = usePageVisible();
  if (visible.value) now.value = Date.now();
  timer = setTimeout(tick, TICK_MS - (Date.now() % TICK_MS));
};

/** Wall-clock time that moves once a second, shared by all who show an age. */
export const useNow = (): Readonly<Ref<number>> => {
  users += 1;
  if (users === 1) tick();
  onScopeDispose(() => {
    users -= 1;
    if (users === 0) clearTimeout(timer);
  });
  return readonly(now);
};

const MINUTE_MS = 60_000;

/** Wall-clock time that moves once a minute: a clock that is never looked at must not repaint every second. */
export const useMinute = (): Readonly<Ref<number>> => {
  const minute = ref(Date.now());
  let timer: ReturnType<typeof setTimeout>;
  const tick = (): void => {
    minute.value = Date.now();
    timer = setTimeout(tick, MINUTE_MS - (Date.now() % MINUTE_MS));
  };
  tick();
  onScopeDispose(() => clearTimeout(timer));
  return readonly(minute);
};

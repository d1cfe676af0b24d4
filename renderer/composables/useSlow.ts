import { onScopeDispose, ref, watch, type Ref } from 'vue';

/** What is done sooner needs no sign that it is being done. */
export const SLOW_AFTER_MS = 300;

/** True once a wait has lasted long enough to be told. */
export const useSlow = (isWaiting: () => boolean): Readonly<Ref<boolean>> => {
  const isSlow = ref(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(
    isWaiting,
    (waits) => {
      clearTimeout(timer);
      isSlow.value = false;
      if (waits) timer = setTimeout(() => (isSlow.value = true), SLOW_AFTER_MS);
    },
    { immediate: true },
  );
  onScopeDispose(() => clearTimeout(timer));
  return isSlow;
};

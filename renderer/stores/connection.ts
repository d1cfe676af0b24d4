import { defineStore } from 'pinia';
import { computed, onScopeDispose, watch } from 'vue';
import { useConnection } from '../bridge/index.ts';
import { useNow } from '../composables/useNow.ts';
import { usePageVisible } from '../composables/usePageVisible.ts';

/** Whether the host can be reached, and for how long not. */
export const useConnectionStore = defineStore('connection', () => {
  const connection = useConnection();
  const visible = usePageVisible();
  const state = connection.state;
  const now = useNow(() => state.value.phase === 'lost');

  const lostForMs = computed(() =>
    state.value.phase === 'lost' ? Math.max(0, now.value - state.value.sinceMs) : 0,
  );
  /** Undefined while an attempt is in progress. */
  const retryInMs = computed(() => {
    if (state.value.phase !== 'lost' || state.value.retryAtMs === undefined) return undefined;
    return Math.max(0, state.value.retryAtMs - now.value);
  });

  const retryNow = (): void => {
    if (state.value.phase === 'lost') connection.retryNow();
  };
  // The page is visible again, or the network came back: no reason to sit out the delay.
  watch(visible, (isVisible) => isVisible && retryNow());
  window.addEventListener('online', retryNow);
  onScopeDispose(() => window.removeEventListener('online', retryNow));

  return { shell: connection.shell, state, lostForMs, retryInMs, retryNow };
});

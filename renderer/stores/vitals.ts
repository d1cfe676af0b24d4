import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { ProcessVitals } from '../../core/contract/index.ts';
import { useStream } from '../composables/useStream.ts';

/** What the application's own processes cost, for the status bar: now and then is often enough there. */
export const useVitalsStore = defineStore('vitals', () => {
  const latest = shallowRef<ProcessVitals>();
  const { health } = useStream(
    'app.vitals',
    { everySeconds: 5 },
    (items) => {
      latest.value = items.at(-1);
    },
    { pauseWhenHidden: true },
  );
  const cpuPercent = computed(() => latest.value?.processes.reduce((sum, one) => sum + one.cpuPercent, 0));
  const memoryBytes = computed(() => latest.value?.processes.reduce((sum, one) => sum + one.memoryBytes, 0));
  return { latest, cpuPercent, memoryBytes, health };
});

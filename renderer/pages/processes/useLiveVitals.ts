import { computed, reactive, shallowRef } from 'vue';
import type { ProcessVitals } from '../../../core/contract/index.ts';
import { useStream } from '../../composables/useStream.ts';

export const VITALS_KEPT_MAX = 120;
/** Samples come once a second; this late, the last one no longer speaks for now. */
export const VITALS_STALE_AFTER_MS = 5_000;

/** CPU and memory of the application's own processes, every second while the page is open, two minutes back. */
export const useLiveVitals = () => {
  const samples = shallowRef<readonly ProcessVitals[]>([]);
  const { health, reopen } = useStream(
    'app.vitals',
    { everySeconds: 1 },
    (items) => {
      samples.value = [...samples.value, ...items].slice(-VITALS_KEPT_MAX);
    },
    { pauseWhenHidden: true },
  );
  const latest = computed(() => samples.value.at(-1));
  const cpuPercent = computed(() => latest.value?.processes.reduce((sum, one) => sum + one.cpuPercent, 0));
  const memoryBytes = computed(() => latest.value?.processes.reduce((sum, one) => sum + one.memoryBytes, 0));
  return reactive({ samples, latest, cpuPercent, memoryBytes, health, reopen });
};

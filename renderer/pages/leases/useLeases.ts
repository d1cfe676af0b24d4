import { computed, reactive, shallowRef, watch } from 'vue';
import type { LeasesView } from '../../../core/contract/index.ts';
import type { SampleValue } from '../../components/sparkline-path.ts';
import { useNow } from '../../composables/useNow.ts';
import { useStream } from '../../composables/useStream.ts';
import { ageMsOf, leaseKey } from './lease-state.ts';

/** Two minutes at one sample a second. */
export const AGE_SAMPLES_MAX = 120;
/** Leases are renewed every few seconds; this long without any, the watch no longer speaks for now. */
export const LEASES_STALE_AFTER_MS = 30_000;

/** Every lease of one cluster while a page shows it, with the server's clock. */
export const useLeases = (cluster: string) => {
  const view = shallowRef<LeasesView>();
  /** How far the server's clock is ahead of this one. */
  const aheadMs = shallowRef(0);
  const ages = shallowRef<ReadonlyMap<string, readonly SampleValue[]>>(new Map());
  const now = useNow();
  const { health, reopen } = useStream(
    'leases.watch',
    { cluster },
    (items) => {
      const newest = items.at(-1);
      if (!newest) return;
      view.value = newest;
      aheadMs.value = newest.atMs - Date.now();
    },
    { pauseWhenHidden: true },
  );
  const serverNowMs = computed(() => Math.max(view.value?.atMs ?? 0, now.value + aheadMs.value));

  // Only of elections: a thousand nodes have their heat map instead.
  watch(now, () => {
    if (!view.value) return;
    const isKnown = health.value.phase === 'live';
    ages.value = new Map(
      view.value.leases
        .filter(({ kind }) => kind === 'election')
        .map((lease) => {
          const key = leaseKey(lease);
          const age = isKnown ? ageMsOf(lease, serverNowMs.value) : undefined;
          return [key, [...(ages.value.get(key) ?? []), age].slice(-AGE_SAMPLES_MAX)];
        }),
    );
  });

  return reactive({ view, ages, serverNowMs, health, reopen });
};

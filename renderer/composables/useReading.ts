import { computed, type ComputedRef, type Ref, type ShallowRef } from 'vue';
import type { ContractError } from '../../core/contract/index.ts';
import type { Reading } from './reading.ts';
import { useSlow } from './useSlow.ts';
import type { StreamHealth } from './useStream.ts';

interface Asked {
  readonly pending: Readonly<Ref<boolean>>;
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
}

/** Of a call that is asked until it was answered once; what was read stays when a later answer is an error. */
export const useCallReading = (call: Asked, isRead: () => boolean): ComputedRef<Reading> => {
  const isLate = useSlow(() => call.pending.value && !isRead());
  return computed((): Reading => {
    if (isRead()) return { phase: 'ready' };
    const error = call.error.value;
    return error ? { phase: 'refused', error } : { phase: isLate.value ? 'late' : 'asked' };
  });
};

/**
 * Of a stream. A host that is away is `lost` and opens again on its own; `lostIsRefused` is for what another machine has to
 * answer: there the error says more than that it is being asked again.
 */
export const useStreamReading = (
  health: () => StreamHealth,
  isRead: () => boolean,
  { lostIsRefused = false }: { readonly lostIsRefused?: boolean } = {},
): ComputedRef<Reading> => {
  const isLate = useSlow(() => health().phase === 'opening' && !isRead());
  return computed((): Reading => {
    if (isRead()) return { phase: 'ready' };
    const { phase, error } = health();
    if (phase === 'refused' || (phase === 'lost' && lostIsRefused)) return { phase: 'refused', error };
    return phase === 'lost' ? { phase: 'lost', error } : { phase: isLate.value ? 'late' : 'asked' };
  });
};

import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue';
import type { ContractError, RequestTrace } from '../../../core/contract/index.ts';
import { useConnection } from '../../bridge/index.ts';
import { createTurns } from '../../composables/turns.ts';
import { useCall } from '../../composables/useCall.ts';
import { usePageVisible } from '../../composables/usePageVisible.ts';

const ASK_EVERY_MS = 2_000;
/** Typing continues for a moment; each letter is not a question. */
const SETTLE_MS = 200;

/** The newest requests of a cluster, asked again while a page shows them and is not paused. */
export const useTraces = (
  cluster: string,
  filter: () => string,
  isHeld: () => boolean,
): {
  readonly traces: Readonly<ShallowRef<readonly RequestTrace[]>>;
  readonly lastAtMs: Readonly<Ref<number | undefined>>;
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
  ask(): Promise<void>;
} => {
  const connection = useConnection();
  const visible = usePageVisible();
  const call = useCall('xray.requests');
  const traces = shallowRef<readonly RequestTrace[]>([]);
  const lastAtMs = ref<number>();
  const error = shallowRef<ContractError>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const turns = createTurns();

  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    if (!visible.value || !connection.client.value) return;
    const turn = turns.next();
    const result = await call.run({ cluster, filter: filter(), auditId: null });
    if (!turn.isLast()) return;
    if (result.ok) {
      traces.value = result.value;
      lastAtMs.value = Date.now();
    }
    error.value = result.ok ? undefined : result.error;
    const isFinal = error.value?.reason === 'Unimplemented' || error.value?.reason === 'Forbidden';
    if (!isHeld() && !isFinal) timer = setTimeout(() => void ask(), ASK_EVERY_MS);
  };
  watch(
    [filter, isHeld, visible, connection.client],
    ([text], [before]) => {
      clearTimeout(timer);
      if (before !== undefined && text !== before) timer = setTimeout(() => void ask(), SETTLE_MS);
      else if (!isHeld()) void ask();
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    turns.end();
    clearTimeout(timer);
  });
  return { traces, lastAtMs, error, ask };
};

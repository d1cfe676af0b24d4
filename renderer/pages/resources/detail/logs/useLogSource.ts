import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue';
import type { Disposable } from '../../../../../core/base/disposable.ts';
import type { ContractError, LogQuery } from '../../../../../core/contract/index.ts';
import { useConnection } from '../../../../bridge/index.ts';

export interface LogState {
  readonly phase: 'open' | 'ended' | 'failed';
  readonly error?: ContractError;
}

/** One log, read once: when it ends it has ended. Asked for again only when the wire to the host was lost. */
export const useLogSource = (
  query: LogQuery,
  sink: { onOpening(): void; onLines(lines: readonly string[]): void },
): Readonly<ShallowRef<LogState>> => {
  const connection = useConnection();
  const state = shallowRef<LogState>({ phase: 'open' });
  let open: Disposable | undefined;

  watch(
    connection.client,
    (client) => {
      open?.dispose();
      if (!client) return;
      sink.onOpening();
      state.value = { phase: 'open' };
      open = client.open('kube.logs', query, {
        onBatch: (items) => sink.onLines(items.flatMap((item) => item.lines)),
        onEnd(error) {
          open = undefined;
          state.value = error ? { phase: 'failed', error } : { phase: 'ended' };
        },
      });
    },
    { immediate: true },
  );
  onScopeDispose(() => open?.dispose());
  return state;
};

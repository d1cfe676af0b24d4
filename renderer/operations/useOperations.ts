import { computed, shallowRef, type ComputedRef, type ShallowRef } from 'vue';
import type { ClusterAction, Operation } from '../../core/contract/index.ts';
import { useCall } from '../composables/useCall.ts';
import { useStream, type StreamHealth } from '../composables/useStream.ts';
import { t } from '../locales/i18n.ts';
import { useToastStore } from '../stores/toasts.ts';

export const isUnderWay = (operation: Operation): boolean =>
  operation.state === 'running' || operation.state === 'paused';

export interface Operations {
  /** Newest first. Undefined until the host told them. */
  readonly operations: Readonly<ShallowRef<readonly Operation[] | undefined>>;
  readonly underWay: ComputedRef<readonly Operation[]>;
  readonly health: Readonly<ShallowRef<StreamHealth>>;
  find(id: string): Operation | undefined;
  /** The newest of these kinds, in progress or ended. */
  latest(...kinds: readonly ClusterAction['kind'][]): Operation | undefined;
  /** After the step that runs; a failure is told as a toast. */
  setPaused(operation: Operation, isPaused: boolean): Promise<void>;
}

/** The operations of one cluster, live for the calling scope. A page of another cluster is another scope. */
export const useOperations = (cluster: string): Operations => {
  const toasts = useToastStore();
  const pause = useCall('cluster.pauseOperation');
  const operations = shallowRef<readonly Operation[]>();
  const { health } = useStream('cluster.operations', { cluster }, (items) => {
    const newest = items.at(-1);
    if (newest) operations.value = newest;
  });
  const known = (): readonly Operation[] => operations.value ?? [];
  return {
    operations,
    underWay: computed(() => known().filter(isUnderWay)),
    health,
    find: (id) => known().find((operation) => operation.id === id),
    latest: (...kinds) => known().find(({ action }) => kinds.includes(action.kind)),
    async setPaused({ id }, isPaused) {
      const result = await pause.run({ cluster, operation: id, isPaused });
      if (!result.ok)
        toasts.show({
          severity: 'error',
          title: t(isPaused ? 'operations.pauseFailed' : 'operations.resumeFailed'),
          detail: result.error.message,
        });
    },
  };
};

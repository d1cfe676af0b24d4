import { defineStore } from 'pinia';
import { shallowRef } from 'vue';
import type { ClusterEntry, ClusterWishes } from '../../core/contract/index.ts';
import { useCall } from '../composables/useCall.ts';
import { t } from '../locales/i18n.ts';
import { useClusterStore } from './clusters.ts';
import { useToastStore } from './toasts.ts';

/** Making, starting, stopping and deleting clusters of this console's own, and which of these is being asked about. */
export const useOwnClusterStore = defineStore('own-clusters', () => {
  const clusters = useClusterStore();
  const toasts = useToastStore();
  const makeCall = useCall('clusters.create');
  const startCall = useCall('clusters.start');
  const stopCall = useCall('clusters.stop');
  const deleteCall = useCall('clusters.delete');
  const isCreating = shallowRef(false);
  const stopping = shallowRef<ClusterEntry>();
  const deleting = shallowRef<ClusterEntry>();

  /** The new cluster becomes the one that is looked at. A refusal is told where the form is. */
  const create = async (wishes: ClusterWishes): Promise<boolean> => {
    const result = await makeCall.run(wishes);
    if (!result.ok) return false;
    clusters.select(result.value.cluster);
    isCreating.value = false;
    return true;
  };

  const start = async (entry: ClusterEntry): Promise<void> => {
    const result = await startCall.run({ cluster: entry.id });
    if (!result.ok)
      toasts.show({
        severity: 'error',
        title: t('own.start.failed', { name: entry.name }),
        detail: result.error.message,
      });
  };

  const stop = async (entry: ClusterEntry): Promise<boolean> => {
    const result = await stopCall.run({ cluster: entry.id });
    if (result.ok) stopping.value = undefined;
    return result.ok;
  };

  const remove = async (entry: ClusterEntry): Promise<boolean> => {
    const result = await deleteCall.run({ cluster: entry.id });
    if (!result.ok) return false;
    deleting.value = undefined;
    clusters.takeList(result.value);
    toasts.show({ severity: 'ok', title: t('own.delete.done', { name: entry.name }) });
    return true;
  };

  return {
    isCreating,
    stopping,
    deleting,
    create,
    creating: makeCall.pending,
    createError: makeCall.error,
    clearCreateError: makeCall.clear,
    start,
    starting: startCall.pending,
    stop,
    stopPending: stopCall.pending,
    stopError: stopCall.error,
    clearStopError: stopCall.clear,
    remove,
    removing: deleteCall.pending,
    removeError: deleteCall.error,
    clearRemoveError: deleteCall.clear,
  };
});

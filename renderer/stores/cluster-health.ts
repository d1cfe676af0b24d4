import { defineStore } from 'pinia';
import { shallowRef } from 'vue';
import type { ClusterEntry } from '../../core/contract/index.ts';
import { useConnection } from '../bridge/index.ts';
import { clusterHealth, type ClusterHealth, type Reach } from '../kinds/cluster-health.ts';

/** How each cluster is. Anyone who talks to an API server notes here how that went; nothing is asked for this alone. */
export const useClusterHealthStore = defineStore('cluster-health', () => {
  const connection = useConnection();
  const reached = shallowRef<ReadonlyMap<string, Reach>>(new Map());

  const note = (cluster: string, reach: Reach): void => {
    const before = reached.value.get(cluster);
    if (
      before &&
      before.isReached === reach.isReached &&
      (before.isReached || reach.isReached || before.why === reach.why)
    )
      return;
    reached.value = new Map(reached.value).set(cluster, reach);
  };
  return {
    /** Undefined: it answered. */
    note: (cluster: string, why: string | undefined): void =>
      note(cluster, why === undefined ? { isReached: true } : { isReached: false, why }),
    of: (entry: ClusterEntry): ClusterHealth =>
      clusterHealth(entry, reached.value.get(entry.id), connection.state.value.phase === 'live'),
  };
});

import { isNotFound } from '../../api/meta/status.ts';
import { REPLICA_SET } from '../../client/index.ts';
import { byRevision } from './replica-sets.ts';
import type { Rollout } from './rollout.ts';
import { historyLimitOf, replicasOf } from './strategy.ts';

/** Deletes the oldest revisions beyond the limit; one that has or may have pods is left for later. */
export const deleteOldRevisions = async ({ client, deployment, old }: Rollout): Promise<void> => {
  const limit = historyLimitOf(deployment);
  if (limit === undefined) return;
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp).sort(byRevision);
  for (const replicaSet of alive.slice(0, Math.max(0, alive.length - limit))) {
    const { metadata, status } = replicaSet;
    const isSettled = (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
    if ((status?.replicas ?? 0) !== 0 || replicasOf(replicaSet) !== 0 || !isSettled) continue;
    try {
      await client.resource(REPLICA_SET, metadata.namespace).delete(metadata.name, {
        preconditions: { uid: metadata.uid },
        propagationPolicy: 'Background',
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
};

import type { Clock } from '../../core/base/clock.ts';
import { hasReason } from '../../core/base/errors.ts';
import { pause } from '../../core/client/index.ts';
import { callControl } from '../../core/cluster/control/client.ts';
import { listDrills } from '../../core/cluster/drills/library/index.ts';
import { ContractError, say, type DrillView, type Handlers } from '../../core/contract/index.ts';
import { guarded } from '../clusters/failure.ts';
import type { LocalCluster, LocalClusters } from '../clusters/local-clusters.ts';

/** While a page shows it. */
const POLL_MS = 1_000;

export interface DrillDependencies {
  readonly clock: Clock;
  readonly localClusters: Pick<LocalClusters, 'find'>;
}

const NONE: DrillView = { isScratch: false, run: null };

const viewOf = async (cluster: LocalCluster | undefined): Promise<DrillView> => {
  if (!cluster) return NONE;
  try {
    return await callControl(cluster.directory, 'drill.view', {});
  } catch (error) {
    if (!hasReason(error, 'NotRunning') && !hasReason(error, 'Unreachable')) throw error;
    return { isScratch: cluster.config.spec.purpose === 'drills', run: null };
  }
};

export const createDrillHandlers = ({ clock, localClusters }: DrillDependencies): Handlers => ({
  'drills.list': () => Promise.resolve([...listDrills()]),
  'drills.watch': async function* ({ cluster }, signal) {
    let told = '';
    while (!signal.aborted) {
      const view = await guarded(() => viewOf(localClusters.find(cluster)));
      const now = JSON.stringify(view);
      if (now !== told) yield [view];
      told = now;
      await pause(clock, POLL_MS, signal).catch(() => undefined);
    }
  },
  'drills.request': ({ cluster, request }) =>
    guarded(() => {
      const own = localClusters.find(cluster);
      if (!own) throw new ContractError('Forbidden', say('drill.notScratch', { cluster }));
      return callControl(own.directory, 'drill.request', { request: JSON.stringify(request) });
    }),
});

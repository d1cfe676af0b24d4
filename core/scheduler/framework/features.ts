import { assert } from '../../base/assert.ts';
import { releaseOfVersion } from '../../api/releases/index.ts';

/** Whether emulated versions before a change keep their old behaviour. */
export interface SchedulerFeatures {
  /** Since 1.36 a node is scored by how much the pod changes its balance, not by the balance it ends with. */
  readonly balancedAllocationByChange: boolean;
  /** Names the taint in the rejection, as releases up to 1.34 do; later ones only say that there was one. */
  readonly taintsInStatus: boolean;
}

/** What the scheduler of a release, `v1.36.0`, does. */
export const featuresOf = (version: string): SchedulerFeatures => {
  const release = releaseOfVersion(version);
  assert(release !== undefined, `${version} is no version of Kubernetes`);
  return {
    balancedAllocationByChange: release.has('balanceScoredByChange'),
    taintsInStatus: !release.has('rejectionsWithoutTaints'),
  };
};

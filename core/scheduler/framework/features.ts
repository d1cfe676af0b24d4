import { assert } from '../../base/assert.ts';

/** Whether emulated versions before a change keep their old behaviour. */
export interface SchedulerFeatures {
  /** Since 1.36 a node is scored by how much the pod changes its balance, not by the balance it ends with. */
  readonly balancedAllocationByChange: boolean;
  /** Names the taint in the rejection, as releases up to 1.34 do; later ones only say that there was one. */
  readonly taintsInStatus: boolean;
}

const MINOR_OF_CHANGE_IN_BALANCE = 36;
const MINOR_OF_LAST_TAINTS_IN_STATUS = 34;

/** What the scheduler of a release, `v1.36.0`, does. */
export const featuresOf = (version: string): SchedulerFeatures => {
  const minor = Number(/^v1\.(\d+)\./.exec(version)?.[1]);
  assert(!Number.isNaN(minor), `${version} is no version of Kubernetes`);
  return {
    balancedAllocationByChange: minor >= MINOR_OF_CHANGE_IN_BALANCE,
    taintsInStatus: minor <= MINOR_OF_LAST_TAINTS_IN_STATUS,
  };
};

import { hasReason } from '../../base/errors.ts';
import { callControl } from '../control/client.ts';
import type { ClusterState } from '../state/cluster-state.ts';

/** Undefined while no cluster runs in the folder. */
export const stateOrNone = async (data: string): Promise<ClusterState | undefined> => {
  try {
    return await callControl(data, 'status', {});
  } catch (error) {
    if (hasReason(error, 'NotRunning')) return undefined;
    throw error;
  }
};

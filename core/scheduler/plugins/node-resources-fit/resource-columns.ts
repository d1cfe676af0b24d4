import type { Snapshot } from '../../cache/snapshot.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { CPU, EPHEMERAL_STORAGE, MEMORY } from '../../model/resources.ts';

/** One resource as scoring reads it. Undefined where it says nothing about this pod on any node. */
export interface ScoredResource {
  readonly allocatable: Float64Array;
  readonly allocated: Float64Array;
  readonly podRequest: number;
}

/**
 * `nonZero` counts containers without requests with a default, so that they weigh too. A scalar resource that
 * the pod does not ask for is left out.
 */
export const scoredResource = (
  snapshot: Snapshot,
  { request }: PodInfo,
  name: string,
  nonZero: boolean,
): ScoredResource | undefined => {
  const { columns } = snapshot;
  switch (name) {
    case CPU:
      return {
        allocatable: columns.allocatableMilliCpu,
        allocated: nonZero ? columns.nonZeroMilliCpu : columns.requestedMilliCpu,
        podRequest: nonZero ? request.nonZeroMilliCpu : request.milliCpu,
      };
    case MEMORY:
      return {
        allocatable: columns.allocatableMemory,
        allocated: nonZero ? columns.nonZeroMemory : columns.requestedMemory,
        podRequest: nonZero ? request.nonZeroMemory : request.memory,
      };
    case EPHEMERAL_STORAGE:
      return {
        allocatable: columns.allocatableEphemeralStorage,
        allocated: columns.requestedEphemeralStorage,
        podRequest: request.ephemeralStorage,
      };
    default: {
      const podRequest = request.scalars.get(name) ?? 0;
      const column = podRequest === 0 ? undefined : columns.scalars.get(name);
      return column && { allocatable: column.allocatable, allocated: column.requested, podRequest };
    }
  }
};

import type { V1DaemonSetStatus } from '../../api/schema/index.ts';
import { isPodAvailable, isPodReady } from '../../client/index.ts';
import { compactStatus } from '../workloads/status.ts';
import { REVISION_LABEL, type DaemonLook } from './daemon-plan.ts';
import { fitOf } from './node-fit.ts';

/** Required by the API, so that zero is written. */
export const STATUS_ZEROS = [
  'currentNumberScheduled',
  'desiredNumberScheduled',
  'numberMisscheduled',
  'numberReady',
] as const;

export const daemonStatus = (
  { set, nodes, podsByNode, hash, nowMs }: DaemonLook,
  options: { readonly observedGeneration: number | undefined; readonly collisionCount: number },
): V1DaemonSetStatus => {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const fits = nodes.map((node) => ({
    isWanted: fitOf(set, node).shouldRun,
    pod: podsByNode.get(node.metadata.name)?.[0],
  }));
  const wanted = fits.filter(({ isWanted }) => isWanted);
  const pods = wanted.flatMap(({ pod }) => pod ?? []);
  const available = pods.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length;
  const { observedGeneration, collisionCount } = options;
  const { conditions } = set.status ?? {};
  return compactStatus<V1DaemonSetStatus>(
    {
      currentNumberScheduled: pods.length,
      numberMisscheduled: fits.filter(({ isWanted, pod }) => !isWanted && pod).length,
      desiredNumberScheduled: wanted.length,
      numberReady: pods.filter(isPodReady).length,
      updatedNumberScheduled: pods.filter(({ metadata }) => metadata.labels?.[REVISION_LABEL] === hash)
        .length,
      numberAvailable: available,
      numberUnavailable: wanted.length - available,
      collisionCount,
      ...(observedGeneration !== undefined && { observedGeneration }),
      ...(conditions && { conditions }),
    },
    STATUS_ZEROS,
  );
};

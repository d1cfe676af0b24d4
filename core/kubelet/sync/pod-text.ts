import type { V1Pod } from '../../api/schema/index.ts';

/** As events and messages name a pod. */
export const formatPod = (pod: V1Pod): string =>
  `${pod.metadata?.name ?? ''}_${pod.metadata?.namespace ?? ''}(${pod.metadata?.uid ?? ''})`;

const GRACE_SECONDS_DEFAULT = 30;

/** How long the pod's containers have when it is stopped. */
export const graceSecondsOf = (pod: V1Pod): number =>
  pod.metadata?.deletionGracePeriodSeconds ??
  pod.spec?.terminationGracePeriodSeconds ??
  GRACE_SECONDS_DEFAULT;

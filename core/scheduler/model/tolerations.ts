import type { Taint, Toleration } from './objects.ts';

export const tolerates = (toleration: Toleration, taint: Taint): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? '') {
    case '':
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    default:
      return false;
  }
};

export const isTolerated = (tolerations: readonly Toleration[] | undefined, taint: Taint): boolean =>
  tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;

/** Taints that keep a pod away, as opposed to those that only make a node less liked. */
export const forbids = (taint: Taint): boolean =>
  taint.effect === 'NoSchedule' || taint.effect === 'NoExecute';

export const findUntolerated = (
  taints: readonly Taint[],
  tolerations: readonly Toleration[] | undefined,
): Taint | undefined => taints.find((taint) => forbids(taint) && !isTolerated(tolerations, taint));

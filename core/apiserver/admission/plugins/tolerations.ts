import type { V1Toleration } from '../../../api/schema/index.ts';

const same = (a: V1Toleration, b: V1Toleration): boolean =>
  (a.key ?? '') === (b.key ?? '') &&
  (a.operator ?? '') === (b.operator ?? '') &&
  (a.value ?? '') === (b.value ?? '') &&
  (a.effect ?? '') === (b.effect ?? '') &&
  a.tolerationSeconds === b.tolerationSeconds;

/** Whether everything that `inner` tolerates is tolerated by `outer`, for as long. */
export const includesToleration = (outer: V1Toleration, inner: V1Toleration): boolean => {
  if (same(outer, inner)) return true;
  const { key = '', operator = '', effect = '', tolerationSeconds } = outer;
  if ((inner.key ?? '') !== key && (key !== '' || operator !== 'Exists')) return false;
  if ((inner.effect ?? '') !== effect && effect !== '') return false;
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (inner.tolerationSeconds === undefined || inner.tolerationSeconds > tolerationSeconds) return false;
  }
  if (operator === 'Exists') return true;
  return inner.operator === 'Equal' && (inner.value ?? '') === (outer.value ?? '');
};

/** Both lists without what another toleration includes; of equal ones the first stays. */
export const mergeTolerations = (
  first: readonly V1Toleration[],
  second: readonly V1Toleration[],
): V1Toleration[] => {
  const all = [...first, ...second];
  const merged: V1Toleration[] = [];
  for (const [at, one] of all.entries()) {
    const isCovered =
      merged.some((other) => includesToleration(other, one)) ||
      all.slice(at + 1).some((other) => !same(one, other) && includesToleration(other, one));
    if (!isCovered) merged.push(one);
  }
  return merged;
};

/** Replaces the toleration for the same taint, or adds one. */
export const withToleration = (
  tolerations: readonly V1Toleration[],
  toleration: V1Toleration,
): V1Toleration[] => {
  const at = tolerations.findIndex(
    (one) =>
      one.key === toleration.key &&
      one.effect === toleration.effect &&
      one.operator === toleration.operator &&
      (one.value ?? '') === (toleration.value ?? ''),
  );
  return at < 0 ? [...tolerations, toleration] : tolerations.with(at, toleration);
};

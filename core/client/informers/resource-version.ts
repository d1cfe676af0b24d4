const DECIMAL = /^[1-9]\d*$/;

/**
 * Below, at or above zero as `a` is older than, the same as or newer than `b`. Undefined when either is no decimal
 * number: then nothing can be said. (Versions of one resource compare as numbers since Kubernetes 1.35 says so.)
 */
export const compareResourceVersions = (a: string, b: string): number | undefined => {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
};

export const isOlder = (a: string, b: string): boolean => (compareResourceVersions(a, b) ?? 0) < 0;

/**
 * Whether a progress answer may be trusted: before 3.4.31 and 3.5.13, etcd could report a revision to a watch
 * whose events up to it were still in progress (etcd issue 15220). The same bounds as upstream's feature check.
 */
export const progressIsTrusted = (version: string): boolean => {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version);
  if (match === null) return false;
  const [major, minor, patch] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  if (minor === 5) return patch >= 13;
  return minor > 5;
};

import { BASELINE_CHECKS } from './baseline-checks.ts';
import type { Check, Subject, Violation } from './check.ts';
import type { LevelVersion } from './policy.ts';
import { RESTRICTED_CHECKS } from './restricted-checks.ts';

/** The newest form of a rule that a version knows. */
const formOf = ({ versions }: Check, minor: number) =>
  versions.findLast(([sinceMinor]) => sinceMinor <= minor)?.[1];

const checksFor = (level: LevelVersion['level'], minor: number): readonly Check[] => {
  if (level === 'privileged') return [];
  if (level === 'baseline') return BASELINE_CHECKS;
  const overridden = new Set(
    RESTRICTED_CHECKS.filter((check) => formOf(check, minor)).map(({ overrides }) => overrides),
  );
  return [...BASELINE_CHECKS.filter(({ id }) => !overridden.has(id)), ...RESTRICTED_CHECKS];
};

/** Everything in a pod that is against a level. A version beyond the server's own is taken for its own. */
export const violationsOf = (
  { level, version }: LevelVersion,
  pod: Subject,
  serverMinor: number,
): Violation[] => {
  const minor = version === 'latest' ? serverMinor : Math.min(version, serverMinor);
  return checksFor(level, minor).flatMap((check) => formOf(check, minor)?.(pod) ?? []);
};

export const detailText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

import { assert } from '../../../base/assert.ts';
import type { PolicyRule } from '../rbac/types.ts';

/**
 * Rules by role, one a line: `[version] verbs groups resources [names]`, or `[version] verbs paths`. Lists are
 * separated by commas; `core` is the core group, `read` and `write` stand for the usual sets of verbs. A version
 * `1.36+` or `<1.36` says in which releases the rule exists.
 */
export type RoleTable = Readonly<Record<string, readonly string[]>>;

const VERB_SETS: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
};
const VERSION_MARK = /^(?:<1\.(\d+)|1\.(\d+)\+)$/;

const splitVersion = (words: readonly string[], minor: number): readonly string[] | undefined => {
  const mark = VERSION_MARK.exec(words[0] ?? '');
  if (!mark) return words;
  const applies = mark[1] === undefined ? minor >= Number(mark[2]) : minor < Number(mark[1]);
  return applies ? words.slice(1) : undefined;
};

/** Undefined where the release has no such rule. */
export const parseRuleText = (line: string, minor: number): PolicyRule | undefined => {
  const words = splitVersion(line.split(' '), minor);
  if (!words) return undefined;
  assert(words.length >= 2 && words.length <= 4, `a rule has two to four words: ${line}`);
  const [verbText, second, resources, names] = words.map((word) => word.split(','));
  const verbs = verbText!.flatMap((verb) => VERB_SETS[verb] ?? [verb]);
  if (!resources) return { nonResourceURLs: second!, verbs };
  return {
    apiGroups: second!.map((group) => (group === 'core' ? '' : group)),
    ...(names && { resourceNames: names }),
    resources,
    verbs,
  };
};

/** Undefined for a role that has rules, but none in this release: it did not exist yet. */
export const rulesOfRole = (lines: readonly string[], minor: number): PolicyRule[] | undefined => {
  const rules = lines.map((line) => parseRuleText(line, minor)).filter((rule) => rule !== undefined);
  return lines.length > 0 && rules.length === 0 ? undefined : rules;
};

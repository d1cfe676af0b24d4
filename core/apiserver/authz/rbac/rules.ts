import type { Attributes } from '../authorizer.ts';
import type { PolicyRule } from './types.ts';

const ALL = '*';

const matches = (allowed: readonly string[] | undefined, wanted: string): boolean =>
  allowed !== undefined && (allowed.includes(wanted) || allowed.includes(ALL));

const resourceMatches = (rule: PolicyRule, resource: string, subresource: string): boolean => {
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  if (matches(rule.resources, combined)) return true;
  return subresource !== '' && (rule.resources?.includes(`*/${subresource}`) ?? false);
};

/** `/healthz/*` covers everything below; several stars at the end count as one. */
export const pathCovers = (pattern: string, path: string): boolean =>
  pattern === ALL ||
  pattern === path ||
  (pattern.endsWith(ALL) && path.startsWith(pattern.replace(/\*+$/, '')));

export const ruleAllows = (rule: PolicyRule, attributes: Attributes): boolean => {
  if (!matches(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResourceRequest)
    return rule.nonResourceURLs?.some((pattern) => pathCovers(pattern, attributes.path)) ?? false;
  const names = rule.resourceNames ?? [];
  return (
    matches(rule.apiGroups, attributes.apiGroup) &&
    resourceMatches(rule, attributes.resource, attributes.subresource) &&
    (names.length === 0 || names.includes(attributes.name))
  );
};

/** Rules that each grant one thing, so that each is covered by one rule or by none. */
const breakDown = (rule: PolicyRule): PolicyRule[] => {
  const names = rule.resourceNames ?? [];
  const resourceRules = (rule.apiGroups ?? []).flatMap((group) =>
    (rule.resources ?? []).flatMap((resource) =>
      rule.verbs.flatMap((verb): PolicyRule[] => {
        const one = { apiGroups: [group], resources: [resource], verbs: [verb] };
        return names.length === 0 ? [one] : names.map((name) => ({ ...one, resourceNames: [name] }));
      }),
    ),
  );
  const pathRules = (rule.nonResourceURLs ?? []).flatMap((path) =>
    rule.verbs.map((verb): PolicyRule => ({ nonResourceURLs: [path], verbs: [verb] })),
  );
  return [...resourceRules, ...pathRules];
};

const holdsAll = (held: readonly string[] | undefined, wanted: readonly string[] | undefined): boolean =>
  (wanted ?? []).every((one) => matches(held, one));

const resourcesCover = (
  held: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
): boolean =>
  (wanted ?? []).every((one) => {
    if (matches(held, one)) return true;
    const slash = one.indexOf('/');
    return slash >= 0 && (held?.includes(`*${one.slice(slash)}`) ?? false);
  });

const ruleCovers = (owned: PolicyRule, wanted: PolicyRule): boolean => {
  const ownedNames = owned.resourceNames ?? [];
  const wantedNames = wanted.resourceNames ?? [];
  const namesCover =
    ownedNames.length === 0 ||
    (wantedNames.length > 0 && wantedNames.every((name) => ownedNames.includes(name)));
  return (
    namesCover &&
    holdsAll(owned.verbs, wanted.verbs) &&
    holdsAll(owned.apiGroups, wanted.apiGroups) &&
    resourcesCover(owned.resources, wanted.resources) &&
    (wanted.nonResourceURLs ?? []).every((path) =>
      (owned.nonResourceURLs ?? []).some(
        (pattern) => pattern === path || (pattern.endsWith(ALL) && pathCovers(pattern, path)),
      ),
    )
  );
};

/** What `wanted` grants beyond `owned`, broken down; empty when nothing. */
export const uncoveredRules = (owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] =>
  wanted.flatMap(breakDown).filter((rule) => !owned.some((candidate) => ruleCovers(candidate, rule)));

/** Joins broken-down rules that differ in their verb alone, for people to read. */
export const compactRules = (rules: readonly PolicyRule[]): PolicyRule[] => {
  const compacted: PolicyRule[] = [];
  const simple = new Map<string, PolicyRule & { verbs: string[] }>();
  for (const rule of rules) {
    if ((rule.nonResourceURLs ?? []).length > 0) {
      compacted.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames ?? []]);
    const known = simple.get(key);
    if (known) known.verbs.push(...rule.verbs);
    else simple.set(key, { ...rule, verbs: [...rule.verbs] });
  }
  return [...compacted, ...simple.values()];
};

import type { AdmissionAttributes, ServedAs } from '../attributes.ts';

/** RuleWithOperations, and for policies also the names it is limited to. */
export interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** `pods`, `pods/log`, `*`, `pods/*`, and so on */
  readonly resources: readonly string[];
  readonly scope: string;
  readonly resourceNames: readonly string[];
}

export type MatchPolicy = 'Exact' | 'Equivalent';

const listed = (items: readonly string[], wanted: string): boolean =>
  items.includes('*') || items.includes(wanted);

const half = (text: string | undefined, wanted: string): boolean => text === '*' || (text ?? '') === wanted;

const inScope = ({ scope }: Rule, { namespace }: AdmissionAttributes, { resource }: ServedAs): boolean => {
  if (scope === '' || scope === '*') return true;
  // A namespace is admitted as if it were inside of itself; it is in no namespace all the same.
  const isNamespace = resource.group === '' && resource.resource === 'namespaces';
  const isNamespaced = !isNamespace && namespace !== '';
  return scope === 'Namespaced' ? isNamespaced : scope === 'Cluster' && !isNamespaced;
};

const ruleMatches = (rule: Rule, attributes: AdmissionAttributes, as: ServedAs): boolean =>
  listed(rule.operations, attributes.operation) &&
  listed(rule.apiGroups, as.resource.group) &&
  listed(rule.apiVersions, as.resource.version) &&
  rule.resources.some((text) => {
    const slash = text.indexOf('/');
    const [resource, subresource] = slash < 0 ? [text] : [text.slice(0, slash), text.slice(slash + 1)];
    return half(resource, as.resource.resource) && half(subresource, attributes.subresource);
  }) &&
  inScope(rule, attributes, as) &&
  (rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name));

/**
 * As what a request matches one of the rules: as requested, or, unless the match must be exact, as another version or
 * group that the same objects are served in. Undefined: no rule is about it.
 */
export const findMatch = (
  rules: readonly Rule[],
  matchPolicy: MatchPolicy,
  attributes: AdmissionAttributes,
): ServedAs | undefined => {
  const requested: ServedAs = { resource: attributes.resource, kind: attributes.kind };
  if (rules.some((rule) => ruleMatches(rule, attributes, requested))) return requested;
  if (matchPolicy === 'Exact') return undefined;
  const [, ...others] = attributes.objects.equivalents;
  for (const rule of rules) {
    const found = others.find((as) => ruleMatches(rule, attributes, as));
    if (found) return found;
  }
  return undefined;
};

import type { KubernetesObject } from '../../api/meta/index.ts';
import { uncoveredRules } from '../authz/rbac/rules.ts';
import type { Binding, ClusterRole, LabelSelectorTerm, PolicyRule, Subject } from '../authz/rbac/types.ts';

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

interface Annotated {
  readonly metadata: KubernetesObject['metadata'] & object;
}

/** Anyone who set this to false wants the object left as it is. */
export const isProtected = (stored: Annotated): boolean =>
  stored.metadata.annotations?.[AUTO_UPDATE] === 'false';

/** What is there wins over what is expected; undefined when nothing was missing. */
const merged = (
  expected: Readonly<Record<string, string>> = {},
  stored: Readonly<Record<string, string>> = {},
): Record<string, string> | undefined =>
  Object.keys(expected).every((key) => key in stored) ? undefined : { ...expected, ...stored };

const mergedMetadata = (expected: Annotated, stored: Annotated): Annotated['metadata'] | undefined => {
  const annotations = merged(expected.metadata.annotations, stored.metadata.annotations);
  const labels = merged(expected.metadata.labels, stored.metadata.labels);
  if (!annotations && !labels) return undefined;
  return { ...stored.metadata, ...(annotations && { annotations }), ...(labels && { labels }) };
};

const selectorText = ({ matchLabels = {} }: LabelSelectorTerm): string =>
  JSON.stringify(Object.entries(matchLabels).sort());

/** The rules a role should have; undefined when it has them. */
const reconciledRules = (
  stored: readonly PolicyRule[],
  expected: readonly PolicyRule[],
  removesExtra: boolean,
): PolicyRule[] | undefined => {
  if (removesExtra && uncoveredRules(expected, stored).length > 0) return [...expected];
  const missing = uncoveredRules(stored, expected);
  return missing.length > 0 ? [...stored, ...missing] : undefined;
};

export interface RoleReconciliation {
  /** Whether rules beyond the expected ones go, as upstream's `RemoveExtraPermissions`. */
  readonly removesExtra?: boolean;
}

/** The stored role with the rules, labels and selectors that it lacks; undefined when it lacks none. */
export const reconciledRole = (
  stored: ClusterRole & KubernetesObject,
  expected: ClusterRole,
  { removesExtra = false }: RoleReconciliation = {},
): (ClusterRole & KubernetesObject) | undefined => {
  if (isProtected(stored)) return undefined;
  const metadata = mergedMetadata(expected, stored);
  const rules = reconciledRules(stored.rules ?? [], expected.rules ?? [], removesExtra);
  const selectors = stored.aggregationRule?.clusterRoleSelectors ?? [];
  const known = new Set(selectors.map(selectorText));
  const missingSelectors = (expected.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (selector) => !known.has(selectorText(selector)),
  );
  const dropsAggregation = !expected.aggregationRule && stored.aggregationRule !== undefined;
  if (!metadata && !rules && missingSelectors.length === 0 && !dropsAggregation) return undefined;
  const { aggregationRule, ...rest } = stored;
  return {
    ...rest,
    ...(metadata && { metadata }),
    ...(rules && { rules }),
    ...(!dropsAggregation && aggregationRule && { aggregationRule }),
    ...(missingSelectors.length > 0 && {
      aggregationRule: { clusterRoleSelectors: [...selectors, ...missingSelectors] },
    }),
  };
};

const sameSubject = (a: Subject, b: Subject): boolean =>
  a.kind === b.kind &&
  (a.apiGroup ?? '') === (b.apiGroup ?? '') &&
  a.name === b.name &&
  (a.namespace ?? '') === (b.namespace ?? '');

/** A role reference never changes: a binding to another role must be recreated. */
export const refersElsewhere = (stored: Binding, expected: Binding): boolean =>
  stored.roleRef.kind !== expected.roleRef.kind ||
  stored.roleRef.name !== expected.roleRef.name ||
  (stored.roleRef.apiGroup ?? '') !== (expected.roleRef.apiGroup ?? '');

/** The stored binding with the subjects and labels that it lacks; undefined when it lacks none. */
export const reconciledBinding = (
  stored: Binding & KubernetesObject,
  expected: Binding,
): (Binding & KubernetesObject) | undefined => {
  if (isProtected(stored)) return undefined;
  const metadata = mergedMetadata(expected, stored);
  const held = stored.subjects ?? [];
  const missing = (expected.subjects ?? []).filter(
    (subject) => !held.some((one) => sameSubject(one, subject)),
  );
  if (!metadata && missing.length === 0) return undefined;
  return {
    ...stored,
    ...(metadata && { metadata }),
    ...(missing.length > 0 && { subjects: [...held, ...missing] }),
  };
};

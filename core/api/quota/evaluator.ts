import type { GroupResource, KubernetesObject } from '../meta/index.ts';
import type { V1ResourceQuota, V1ScopedResourceSelectorRequirement } from '../schema/generated/types.ts';
import type { ResourceList } from './resource-list.ts';

/** A write that may change what a namespace uses. */
export interface QuotaChange {
  readonly operation: string;
  readonly subresource: string;
  readonly object: KubernetesObject | undefined;
  readonly oldObject: KubernetesObject | undefined;
}

/** Knows what objects of one resource use, for the admission plugin and for the controller. */
export interface Evaluator {
  readonly resource: GroupResource;
  /** Whether the write can change usage at all. */
  handles(change: QuotaChange): boolean;
  /** Those of the names that this evaluator measures. */
  matchingResources(names: readonly string[]): readonly string[];
  matchesScope(selector: V1ScopedResourceSelectorRequirement, object: KubernetesObject): boolean;
  /** What the object must say and does not; undefined when nothing. */
  missing(required: readonly string[], object: KubernetesObject): string | undefined;
  usage(object: KubernetesObject, nowMs: number): ResourceList;
}

export const objectCountName = ({ group, resource }: GroupResource): string =>
  group === '' ? `count/${resource}` : `count/${resource}.${group}`;

/** Plain scopes are selectors for the existence of what they name. */
export const scopeSelectorsOf = ({ spec }: V1ResourceQuota): V1ScopedResourceSelectorRequirement[] => [
  ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec?.scopeSelector?.matchExpressions ?? []),
];

/** A quota is for an object when it measures something of it and all of its scopes hold. */
export const quotaMatches = (
  quota: V1ResourceQuota,
  evaluator: Evaluator,
  object: KubernetesObject,
): boolean =>
  evaluator.matchingResources(Object.keys(quota.status?.hard ?? {})).length > 0 &&
  scopeSelectorsOf(quota).every((selector) => evaluator.matchesScope(selector, object));

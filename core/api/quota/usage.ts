import type { KubernetesObject } from '../meta/index.ts';
import { ZERO } from '../quantity/index.ts';
import type { V1ResourceQuota } from '../schema/generated/types.ts';
import { scopeSelectorsOf, type Evaluator } from './evaluator.ts';
import { addResources, maskResources, type ResourceList } from './resource-list.ts';

/** Objects of one resource in the quota's namespace. */
export interface Measured {
  readonly evaluator: Evaluator;
  readonly objects: readonly KubernetesObject[];
}

/** What a namespace uses of everything that a quota limits; resources that no one measures are left out. */
export const usageFor = (
  quota: V1ResourceQuota,
  measured: readonly Measured[],
  nowMs: number,
): ResourceList => {
  const hard = Object.keys(quota.spec?.hard ?? {});
  const selectors = scopeSelectorsOf(quota);
  const known = new Set<string>();
  let used: ResourceList = new Map();
  for (const { evaluator, objects } of measured) {
    const names = evaluator.matchingResources(hard);
    if (names.length === 0) continue;
    for (const name of names) known.add(name);
    used = addResources(used, new Map(names.map((name) => [name, ZERO])));
    for (const object of objects)
      if (selectors.every((selector) => evaluator.matchesScope(selector, object)))
        used = addResources(used, evaluator.usage(object, nowMs));
  }
  return maskResources(used, known);
};

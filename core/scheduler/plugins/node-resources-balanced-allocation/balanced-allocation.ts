import { SCORE_MAX, type Plugin } from '../../framework/plugin.ts';
import { skip } from '../../framework/status.ts';
import { NODE_RESOURCES_BALANCED_ALLOCATION } from '../../framework/plugin-names.ts';
import { scoredResource, type ScoredResource } from '../node-resources-fit/resource-columns.ts';
import { DEFAULT_RESOURCES, type ResourceSpec } from '../node-resources-fit/scoring-strategy.ts';

export interface BalancedAllocationArgs {
  readonly resources?: readonly ResourceSpec[];
}

const SKIP = skip(NODE_RESOURCES_BALANCED_ALLOCATION);

/** 100 less the standard deviation of the used fractions: even use of all resources is best. */
const balance = (resources: readonly ScoredResource[], slot: number, withPod: boolean): number => {
  let count = 0;
  let total = 0;
  let first = 0;
  let second = 0;
  const fractionOf = (resource: ScoredResource): number => {
    const used = resource.allocated[slot]! + (withPod ? resource.podRequest : 0);
    return Math.min(1, used / resource.allocatable[slot]!);
  };
  for (const resource of resources) {
    if (resource.allocatable[slot] === 0) continue;
    const fraction = fractionOf(resource);
    if (count === 0) first = fraction;
    else second = fraction;
    total += fraction;
    count += 1;
  }
  let deviation = 0;
  if (count === 2) deviation = Math.abs((first - second) / 2);
  else if (count > 2) {
    const mean = total / count;
    let sum = 0;
    for (const resource of resources) {
      if (resource.allocatable[slot] === 0) continue;
      const difference = fractionOf(resource) - mean;
      sum += difference * difference;
    }
    deviation = Math.sqrt(sum / count);
  }
  return Math.trunc((1 - deviation) * SCORE_MAX);
};

/** Likes nodes whose resources are used evenly, by requests as they are. */
export const balancedAllocation = (
  args: BalancedAllocationArgs,
  options: { readonly byChange: boolean },
): Plugin => {
  const specs = args.resources?.length ? args.resources : DEFAULT_RESOURCES;
  return {
    name: NODE_RESOURCES_BALANCED_ALLOCATION,
    preScore(cycle, pod) {
      const asksForAny = specs.some(
        ({ name }) => (scoredResource(cycle.snapshot, pod, name, false)?.podRequest ?? 0) > 0,
      );
      return asksForAny ? undefined : SKIP;
    },
    score(cycle, pod, slots, scores) {
      const resources = specs.flatMap(({ name }) => scoredResource(cycle.snapshot, pod, name, false) ?? []);
      for (let at = 0; at < slots.length; at += 1) {
        const slot = slots[at]!;
        const after = balance(resources, slot, true);
        scores[at] = options.byChange
          ? SCORE_MAX / 2 + Math.trunc((SCORE_MAX / 2 + after - balance(resources, slot, false)) / 2)
          : after;
      }
      return undefined;
    },
  };
};

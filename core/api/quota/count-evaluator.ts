import type { GroupResource } from '../meta/index.ts';
import { ofUnits } from '../quantity/index.ts';
import { objectCountName, type Evaluator } from './evaluator.ts';

/** Names that were there before `count/<resource>.<group>`. */
const ALIASES: Readonly<Record<string, string>> = {
  configmaps: 'configmaps',
  resourcequotas: 'resourcequotas',
  replicationcontrollers: 'replicationcontrollers',
  secrets: 'secrets',
};

/** One object, one unit: for every resource without an evaluator of its own. */
export const countEvaluator = (resource: GroupResource): Evaluator => {
  const alias = resource.group === '' ? ALIASES[resource.resource] : undefined;
  const names = [objectCountName(resource), ...(alias === undefined ? [] : [alias])];
  return {
    resource,
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    matchingResources: (asked) => asked.filter((name) => names.includes(name)).sort(),
    matchesScope: () => false,
    missing: () => undefined,
    usage: () => new Map(names.map((name) => [name, ofUnits(1n)])),
  };
};

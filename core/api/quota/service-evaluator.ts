import { ofUnits } from '../quantity/index.ts';
import type { V1Service } from '../schema/generated/types.ts';
import { objectCountName, type Evaluator } from './evaluator.ts';

const SERVICES = { group: '', resource: 'services' };
const COUNT = objectCountName(SERVICES);
const NAMES = [COUNT, 'services', 'services.loadbalancers', 'services.nodeports'];

/** Node ports are counted by intent: at admission none is given out yet. */
const nodePortsOf = ({ spec }: V1Service): number => {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false
    ? ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0).length
    : ports.length;
};

export const serviceEvaluator: Evaluator = {
  resource: SERVICES,
  handles: ({ operation, subresource }) =>
    subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  matchingResources: (asked) => asked.filter((name) => NAMES.includes(name)).sort(),
  matchesScope: () => false,
  missing: () => undefined,
  usage(object) {
    const service = object as V1Service;
    return new Map([
      [COUNT, ofUnits(1n)],
      ['services', ofUnits(1n)],
      ['services.loadbalancers', ofUnits(service.spec?.type === 'LoadBalancer' ? 1n : 0n)],
      ['services.nodeports', ofUnits(BigInt(nodePortsOf(service)))],
    ]);
  },
};

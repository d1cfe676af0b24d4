import { quantityFrom } from '../../../../core/api/quantity/index.ts';
import { at, listAt, textAt, type KubeObject } from '../../../kinds/kube-object.ts';

/** What the scheduler counts: cores, bytes, pods. */
export interface Amounts {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

export interface Capacity {
  readonly allocatable: Amounts;
  readonly requested: Amounts;
}

const NOTHING: Amounts = { cpu: 0, memory: 0, pods: 0 };

const amount = (value: unknown): number => {
  if (value === undefined) return 0;
  try {
    return quantityFrom(value).toNumber();
  } catch {
    // A server may hold what we cannot read; it is not counted then.
    return 0;
  }
};

const plus = (a: Amounts, b: Amounts): Amounts => ({
  cpu: a.cpu + b.cpu,
  memory: a.memory + b.memory,
  pods: a.pods + b.pods,
});

const larger = (a: Amounts, b: Amounts): Amounts => ({
  cpu: Math.max(a.cpu, b.cpu),
  memory: Math.max(a.memory, b.memory),
  pods: Math.max(a.pods, b.pods),
});

const requestsOf = (container: unknown): Amounts => ({
  cpu: amount(at(container, 'resources', 'requests', 'cpu')),
  memory: amount(at(container, 'resources', 'requests', 'memory')),
  pods: 0,
});

/** As the scheduler counts a pod: containers and sidecars together, or the largest moment of its initialisation. */
export const podRequests = (pod: KubeObject): Amounts => {
  const containers = listAt(pod, 'spec', 'containers').map(requestsOf).reduce(plus, NOTHING);
  let sidecars = NOTHING;
  let peak = NOTHING;
  for (const container of listAt(pod, 'spec', 'initContainers')) {
    const requests = requestsOf(container);
    if (textAt(container, 'restartPolicy') === 'Always') {
      sidecars = plus(sidecars, requests);
      peak = larger(peak, sidecars);
    } else peak = larger(peak, plus(sidecars, requests));
  }
  const overhead: Amounts = {
    cpu: amount(at(pod, 'spec', 'overhead', 'cpu')),
    memory: amount(at(pod, 'spec', 'overhead', 'memory')),
    pods: 1,
  };
  return plus(larger(plus(containers, sidecars), peak), overhead);
};

const isOver = (pod: KubeObject): boolean =>
  ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase')) || textAt(pod, 'spec', 'nodeName') === '';

/** Of each node, by name. */
export const capacityByNode = (
  nodes: readonly KubeObject[],
  pods: readonly KubeObject[],
): ReadonlyMap<string, Capacity> => {
  const requested = new Map<string, Amounts>();
  for (const pod of pods) {
    if (isOver(pod)) continue;
    const node = textAt(pod, 'spec', 'nodeName');
    requested.set(node, plus(requested.get(node) ?? NOTHING, podRequests(pod)));
  }
  return new Map(
    nodes.map((node) => {
      const name = textAt(node, 'metadata', 'name');
      const allocatable = {
        cpu: amount(at(node, 'status', 'allocatable', 'cpu')),
        memory: amount(at(node, 'status', 'allocatable', 'memory')),
        pods: amount(at(node, 'status', 'allocatable', 'pods')),
      };
      return [name, { allocatable, requested: requested.get(name) ?? NOTHING }];
    }),
  );
};

export const totalCapacity = (byNode: ReadonlyMap<string, Capacity>): Capacity =>
  [...byNode.values()].reduce<Capacity>(
    (sum, each) => ({
      allocatable: plus(sum.allocatable, each.allocatable),
      requested: plus(sum.requested, each.requested),
    }),
    { allocatable: NOTHING, requested: NOTHING },
  );

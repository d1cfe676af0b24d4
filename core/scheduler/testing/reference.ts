import { selectorFromObject } from '../../api/selector/index.ts';
import { quantityFrom } from '../../api/quantity/index.ts';
import type { Random } from '../../base/random.ts';
import type { Node, NodeSelectorTerm, Pod, Taint, Toleration } from '../model/objects.ts';
import { referenceAffinity } from './reference-affinity.ts';
import { referenceSpread } from './reference-spread.ts';

/**
 * Scheduling as its documentation tells it, written without columns, shapes or state between steps: every
 * question is answered from scratch by checking every pod on every node. Slow, and therefore easy to check.
 */
export interface World {
  /** In the order in which they are tried. */
  readonly nodes: readonly Node[];
  readonly podsOn: ReadonlyMap<string, readonly Pod[]>;
  readonly namespaceLabels: (namespace: string) => Readonly<Record<string, string>> | undefined;
}

export interface ReferenceDecision {
  readonly feasible: readonly string[];
  /** Reasons by rejected node. */
  readonly rejected: Readonly<Record<string, readonly string[]>>;
  /** Weighted scores by node; empty where nothing was to be chosen. */
  readonly totals: Readonly<Record<string, number>>;
  readonly chosen: string | undefined;
}

export const nameOf = (object: { readonly metadata: { readonly name?: string } }): string =>
  object.metadata.name ?? '';

export const podsOf = (world: World, node: Node): readonly Pod[] => world.podsOn.get(nameOf(node)) ?? [];

const milli = (text: string | number | undefined): number => Number(quantityFrom(text ?? 0).milliValue());
const units = (text: string | number | undefined): number => Number(quantityFrom(text ?? 0).value());

const requestOf = (pod: Pod, resource: string): number =>
  pod.spec.containers.reduce((sum, { resources }) => {
    const text = resources?.requests?.[resource];
    return sum + (resource === 'cpu' ? milli(text) : units(text));
  }, 0);

const scoringRequestOf = (pod: Pod, resource: 'cpu' | 'memory'): number =>
  pod.spec.containers.reduce((sum, { resources }) => {
    const text = resources?.requests?.[resource];
    if (text === undefined) return sum + (resource === 'cpu' ? 100 : 200 * 1024 * 1024);
    return sum + (resource === 'cpu' ? milli(text) : units(text));
  }, 0);

const allocatableOf = (node: Node, resource: string): number => {
  const text = node.status?.allocatable?.[resource];
  return resource === 'cpu' ? milli(text) : units(text);
};

export const tolerated = (tolerations: readonly Toleration[] | undefined, taint: Taint): boolean =>
  (tolerations ?? []).some(
    (toleration) =>
      (!toleration.effect || toleration.effect === taint.effect) &&
      (!toleration.key || toleration.key === taint.key) &&
      (toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '')),
  );

const termSelects = (term: NodeSelectorTerm, node: Node): boolean => {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  const holds = (operator: string, values: readonly string[], value: string | undefined): boolean => {
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      case 'Gt':
        return value !== undefined && /^-?\d+$/.test(value) && Number(value) > Number(values[0]);
      case 'Lt':
        return value !== undefined && /^-?\d+$/.test(value) && Number(value) < Number(values[0]);
      default:
        return false;
    }
  };
  return (
    expressions.every(({ key, operator, values = [] }) =>
      holds(operator, values, node.metadata.labels?.[key]),
    ) && fields.every(({ operator, values = [] }) => holds(operator, values, nameOf(node)))
  );
};

export const affinitySelects = (pod: Pod, node: Node): boolean => {
  const { nodeSelector, affinity } = pod.spec;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (
    Object.entries(nodeSelector ?? {}).every(([key, value]) => node.metadata.labels?.[key] === value) &&
    (!required || required.nodeSelectorTerms.some((term) => termSelects(term, node)))
  );
};

const hostPortsOf = (pod: Pod): readonly { ip: string; port: string }[] =>
  pod.spec.containers.flatMap(({ ports = [] }) =>
    ports
      .filter(({ hostPort }) => hostPort)
      .map(({ hostPort, hostIP, protocol }) => ({
        ip: hostIP || '0.0.0.0',
        port: `${protocol || 'TCP'}/${hostPort}`,
      })),
  );

const fitReasons = (world: World, pod: Pod, node: Node): readonly string[] => {
  const pods = podsOf(world, node);
  const reasons: string[] = [];
  if (pods.length + 1 > allocatableOf(node, 'pods')) reasons.push('Too many pods');
  const resources = ['cpu', 'memory', 'ephemeral-storage', 'example.com/gpu'];
  for (const resource of resources) {
    const wanted = requestOf(pod, resource);
    const used = pods.reduce((sum, other) => sum + requestOf(other, resource), 0);
    if (wanted > 0 && wanted > allocatableOf(node, resource) - used) reasons.push(`Insufficient ${resource}`);
  }
  return reasons;
};

/** Empty when the node takes the pod. The order of questions is that of the default profile. */
const rejectionOf = (world: World, pod: Pod, node: Node): readonly string[] => {
  if (
    node.spec?.unschedulable &&
    !tolerated(pod.spec.tolerations, { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' })
  )
    return ['node(s) were unschedulable'];
  const taint = (node.spec?.taints ?? []).find(
    (one) => ['NoSchedule', 'NoExecute'].includes(one.effect) && !tolerated(pod.spec.tolerations, one),
  );
  if (taint) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
  if (!affinitySelects(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  const held = podsOf(world, node).flatMap(hostPortsOf);
  const clash = hostPortsOf(pod).some((wanted) =>
    held.some(
      (other) =>
        other.port === wanted.port &&
        (other.ip === wanted.ip || other.ip === '0.0.0.0' || wanted.ip === '0.0.0.0'),
    ),
  );
  if (clash) return ["node(s) didn't have free ports for the requested pod ports"];
  const fit = fitReasons(world, pod, node);
  if (fit.length > 0) return fit;
  const spread = referenceSpread.rejection(world, pod, node);
  if (spread !== undefined) return [spread];
  const affinity = referenceAffinity.rejection(world, pod, node);
  return affinity === undefined ? [] : [affinity];
};

const toShareOfMax = (raw: readonly number[], reverse: boolean): readonly number[] => {
  const max = Math.max(0, ...raw);
  if (max === 0) return raw.map(() => (reverse ? 100 : 0));
  return raw.map((score) =>
    reverse ? 100 - Math.floor((100 * score) / max) : Math.floor((100 * score) / max),
  );
};

const leastAllocated = (world: World, pod: Pod, node: Node): number => {
  const scores = (['cpu', 'memory'] as const).flatMap((resource) => {
    const capacity = allocatableOf(node, resource);
    if (capacity === 0) return [];
    const used = [...podsOf(world, node), pod].reduce((sum, one) => sum + scoringRequestOf(one, resource), 0);
    return [used > capacity ? 0 : Math.floor(((capacity - used) * 100) / capacity)];
  });
  return scores.length === 0 ? 0 : Math.floor(scores.reduce((a, b) => a + b, 0) / scores.length);
};

const balanceOf = (pods: readonly Pod[], node: Node): number => {
  const fractions = (['cpu', 'memory'] as const).flatMap((resource) => {
    const capacity = allocatableOf(node, resource);
    if (capacity === 0) return [];
    return [Math.min(1, pods.reduce((sum, one) => sum + requestOf(one, resource), 0) / capacity)];
  });
  const deviation = fractions.length === 2 ? Math.abs((fractions[0]! - fractions[1]!) / 2) : 0;
  return Math.trunc((1 - deviation) * 100);
};

const imageScore = (world: World, pod: Pod, node: Node): number => {
  const mib = 1024 * 1024;
  const has = (one: Node, image: string): number | undefined =>
    one.status?.images?.find(({ names = [] }) => names.includes(image))?.sizeBytes;
  const images = pod.spec.containers.map(({ image = '' }) =>
    /:[^/]*$/.test(image) ? image : `${image}:latest`,
  );
  const sum = images.reduce((total, image) => {
    const size = has(node, image);
    const holders = world.nodes.filter((one) => has(one, image) !== undefined).length;
    return size === undefined ? total : total + Math.trunc(size * (holders / world.nodes.length));
  }, 0);
  const max = 1000 * mib * images.length;
  const clamped = Math.min(max, Math.max(23 * mib, sum));
  return Math.trunc((100 * (clamped - 23 * mib)) / (max - 23 * mib));
};

const totalsOf = (world: World, pod: Pod, nodes: readonly Node[]): readonly number[] => {
  const taints = toShareOfMax(
    nodes.map(
      (node) =>
        (node.spec?.taints ?? []).filter(
          (taint) =>
            taint.effect === 'PreferNoSchedule' &&
            !tolerated(
              pod.spec.tolerations?.filter(({ effect }) => !effect || effect === 'PreferNoSchedule'),
              taint,
            ),
        ).length,
    ),
    true,
  );
  const preferred = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const nodeAffinity = toShareOfMax(
    nodes.map((node) =>
      preferred.reduce(
        (sum, { weight, preference }) => sum + (termSelects(preference, node) ? weight : 0),
        0,
      ),
    ),
    false,
  );
  const asksForAny = requestOf(pod, 'cpu') + requestOf(pod, 'memory') > 0;
  const spread = referenceSpread.scores(world, pod, nodes);
  const affinity = referenceAffinity.scores(world, pod, nodes);
  return nodes.map((node, at) => {
    const pods = podsOf(world, node);
    const balanced = asksForAny
      ? 50 + Math.trunc((50 + balanceOf([...pods, pod], node) - balanceOf(pods, node)) / 2)
      : 0;
    return (
      3 * taints[at]! +
      2 * (preferred.length > 0 ? nodeAffinity[at]! : 0) +
      leastAllocated(world, pod, node) +
      balanced +
      2 * spread[at]! +
      2 * affinity[at]! +
      imageScore(world, pod, node)
    );
  });
};

export const referenceDecision = (
  world: World,
  pod: Pod,
  options: { readonly startIndex: number; readonly enough: number; readonly random: Random },
): ReferenceDecision => {
  const feasible: Node[] = [];
  const rejected: Record<string, readonly string[]> = {};
  for (let step = 0; step < world.nodes.length && feasible.length < options.enough; step += 1) {
    const node = world.nodes[(options.startIndex + step) % world.nodes.length]!;
    const reasons = rejectionOf(world, pod, node);
    if (reasons.length === 0) feasible.push(node);
    else rejected[nameOf(node)] = reasons;
  }
  const names = feasible.map(nameOf);
  if (feasible.length <= 1) return { feasible: names, rejected, totals: {}, chosen: names[0] };
  const totals = totalsOf(world, pod, feasible);
  let chosen = 0;
  let ties = 1;
  for (let at = 1; at < totals.length; at += 1)
    if (totals[at]! > totals[chosen]!) {
      chosen = at;
      ties = 1;
    } else if (totals[at] === totals[chosen]) {
      ties += 1;
      if (options.random.below(ties) === 0) chosen = at;
    }
  return {
    feasible: names,
    rejected,
    totals: Object.fromEntries(names.map((name, at) => [name, totals[at]!])),
    chosen: names[chosen],
  };
};

export const selects = (selector: Parameters<typeof selectorFromObject>[0], pod: Pod): boolean =>
  selectorFromObject(selector).matches(pod.metadata.labels);

import { LABEL_HOSTNAME, type Node, type Pod, type TopologySpreadConstraint } from '../model/objects.ts';
import { affinitySelects, podsOf, selects, tolerated, type World } from './reference.ts';

const withAction = (pod: Pod, action: string): readonly TopologySpreadConstraint[] =>
  (pod.spec.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action);

const matchCount = (world: World, pod: Pod, node: Node, constraint: TopologySpreadConstraint): number => {
  const { matchLabels = {}, matchExpressions = [] } = constraint.labelSelector ?? {};
  if (constraint.labelSelector && Object.keys(matchLabels).length + matchExpressions.length === 0) return 0;
  return podsOf(world, node).filter(
    (other) =>
      other.metadata.namespace === pod.metadata.namespace &&
      other.metadata.deletionTimestamp === undefined &&
      selects(constraint.labelSelector, other),
  ).length;
};

const hasKeys = (node: Node, constraints: readonly TopologySpreadConstraint[]): boolean =>
  constraints.every(({ topologyKey }) => node.metadata.labels?.[topologyKey] !== undefined);

const counts = (pod: Pod, node: Node, constraint: TopologySpreadConstraint): boolean =>
  ((constraint.nodeAffinityPolicy ?? 'Honor') !== 'Honor' || affinitySelects(pod, node)) &&
  (constraint.nodeTaintsPolicy !== 'Honor' ||
    !(node.spec?.taints ?? []).some(
      (taint) =>
        ['NoSchedule', 'NoExecute'].includes(taint.effect) && !tolerated(pod.spec.tolerations, taint),
    ));

const rejection = (world: World, pod: Pod, node: Node): string | undefined => {
  const constraints = withAction(pod, 'DoNotSchedule');
  const reason = "node(s) didn't match pod topology spread constraints";
  for (const constraint of constraints) {
    const value = node.metadata.labels?.[constraint.topologyKey];
    if (value === undefined) return `${reason} (missing required label)`;
    const domains = new Map<string, number>();
    for (const other of world.nodes) {
      if (!hasKeys(other, constraints) || !counts(pod, other, constraint)) continue;
      const domain = other.metadata.labels![constraint.topologyKey]!;
      domains.set(domain, (domains.get(domain) ?? 0) + matchCount(world, pod, other, constraint));
    }
    const min = domains.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...domains.values());
    const own = selects(constraint.labelSelector, pod) ? 1 : 0;
    if ((domains.get(value) ?? 0) + own - min > constraint.maxSkew) return reason;
  }
  return undefined;
};

const scores = (world: World, pod: Pod, nodes: readonly Node[]): readonly number[] => {
  const constraints = withAction(pod, 'ScheduleAnyway');
  if (constraints.length === 0) return nodes.map(() => 0);
  const considered = nodes.filter((node) => hasKeys(node, constraints));
  const raw = nodes.map((node) => {
    if (!considered.includes(node)) return undefined;
    let score = 0;
    for (const constraint of constraints) {
      const key = constraint.topologyKey;
      const value = node.metadata.labels![key]!;
      const domains = new Set(considered.map(({ metadata }) => metadata.labels![key]!));
      const size = key === LABEL_HOSTNAME ? considered.length : domains.size;
      const count =
        key === LABEL_HOSTNAME
          ? matchCount(world, pod, node, constraint)
          : world.nodes
              .filter(
                (other) =>
                  other.metadata.labels?.[key] === value &&
                  hasKeys(other, constraints) &&
                  counts(pod, other, constraint),
              )
              .reduce((sum, other) => sum + matchCount(world, pod, other, constraint), 0);
      score += count * Math.log(size + 2) + (constraint.maxSkew - 1);
    }
    return Math.round(score);
  });
  const known = raw.filter((score) => score !== undefined);
  const max = Math.max(0, ...known);
  const min = Math.min(...known);
  return raw.map((score) => {
    if (score === undefined) return 0;
    return max === 0 ? 100 : Math.trunc((100 * (max + min - score)) / max);
  });
};

export const referenceSpread = { rejection, scores };

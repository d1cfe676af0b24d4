import { compileRequirement, type LabelOperator } from '../../api/selector/requirement.ts';
import type {
  V1Affinity,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PodSpec,
  V1Taint,
  V1Toleration,
} from '../../api/schema/index.ts';
import type { DaemonSet, Node, Pod, Stored } from '../../client/index.ts';

const NAME_FIELD = 'metadata.name';

const exists = (key: string, effect: string): V1Toleration => ({ key, operator: 'Exists', effect });

/** Daemons run where other pods are sent away: they are part of the node. */
const DAEMON_TOLERATIONS: readonly V1Toleration[] = [
  exists('node.kubernetes.io/not-ready', 'NoExecute'),
  exists('node.kubernetes.io/unreachable', 'NoExecute'),
  exists('node.kubernetes.io/disk-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/memory-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/pid-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/unschedulable', 'NoSchedule'),
];
const NETWORK_TOLERATION = exists('node.kubernetes.io/network-unavailable', 'NoSchedule');

/** The tolerations of a template with those of daemons; one of the same key, effect and value is replaced. */
export const daemonTolerations = (spec: V1PodSpec | undefined): V1Toleration[] => {
  const added = spec?.hostNetwork ? [...DAEMON_TOLERATIONS, NETWORK_TOLERATION] : DAEMON_TOLERATIONS;
  const isReplaced = (held: V1Toleration): boolean =>
    added.some(
      ({ key, operator, effect }) =>
        held.key === key && held.operator === operator && held.effect === effect && !held.value,
    );
  return [...(spec?.tolerations ?? []).filter((held) => !isReplaced(held)), ...added];
};

const tolerates = (toleration: V1Toleration, taint: V1Taint): boolean => {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
};

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

const matchesLabels = (
  { key, operator, values = [] }: V1NodeSelectorRequirement,
  node: Stored<Node>,
): boolean => {
  const known = OPERATORS[operator];
  return (
    known !== undefined && compileRequirement({ key, operator: known, values })(node.metadata.labels ?? {})
  );
};

const matchesName = (
  { key, operator, values = [] }: V1NodeSelectorRequirement,
  node: Stored<Node>,
): boolean =>
  key === NAME_FIELD &&
  (operator === 'In'
    ? values.includes(node.metadata.name)
    : operator === 'NotIn' && !values.includes(node.metadata.name));

/** A term without any requirement selects nothing. */
const matchesTerm = (term: V1NodeSelectorTerm, node: Stored<Node>): boolean => {
  const { matchExpressions = [], matchFields = [] } = term;
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((requirement) => matchesLabels(requirement, node)) &&
    matchFields.every((requirement) => matchesName(requirement, node))
  );
};

const matchesAffinity = (spec: V1PodSpec | undefined, node: Stored<Node>): boolean => {
  const labels = node.metadata.labels ?? {};
  const isSelected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return isSelected && (!required || required.nodeSelectorTerms.some((term) => matchesTerm(term, node)));
};

export interface NodeFit {
  /** A pod of the set belongs there. */
  readonly shouldRun: boolean;
  /** One that is there may stay. */
  readonly mayStay: boolean;
}

const UNFIT: NodeFit = { shouldRun: false, mayStay: false };

export const fitOf = (set: DaemonSet, node: Stored<Node>): NodeFit => {
  const spec = set.spec?.template.spec;
  if (spec?.nodeName && spec.nodeName !== node.metadata.name) return UNFIT;
  if (!matchesAffinity(spec, node)) return UNFIT;
  const tolerations = daemonTolerations(spec);
  const refused = (node.spec?.taints ?? []).filter(
    (taint) => !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  return {
    shouldRun: !refused.some(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute'),
    mayStay: !refused.some(({ effect }) => effect === 'NoExecute'),
  };
};

/** The affinity of a template, narrowed to one node: the scheduler binds the pod, but has no choice. */
export const affinityTo = (affinity: V1Affinity | undefined, node: string): V1Affinity => ({
  ...affinity,
  nodeAffinity: {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: NAME_FIELD, operator: 'In', values: [node] }] }],
    },
  },
});

/** The node that a pod runs on or is meant for. */
export const targetNodeOf = (pod: Pod): string | undefined => {
  if (pod.spec?.nodeName) return pod.spec.nodeName;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === NAME_FIELD && operator === 'In' && values.length === 1) return values[0];
  return undefined;
};

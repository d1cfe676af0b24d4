import { shell } from '../base/shell-words.ts';
import { findCondition } from '../api/meta/index.ts';
import { podRequests, resourceListFrom } from '../api/quota/index.ts';
import { ZERO, type Quantity } from '../api/quantity/index.ts';
import type { V1Node, V1PersistentVolumeClaim, V1Pod, V1Taint, V1Toleration } from '../api/schema/index.ts';
import { matchesNodeExpression } from '../api/selector/index.ts';
import { say, type GraphReason } from '../contract/index.ts';
import { reasonOf, metaOf, type GraphBuilder } from './graph-builder.ts';

const CPU_DIGITS = 3;

/** `3.2` for cores, `1536Mi` for bytes. */
export const amountText = (resource: string, amount: Quantity): string =>
  resource === 'cpu' || resource.endsWith('.cpu')
    ? String(Number(amount.toNumber().toFixed(CPU_DIGITS)))
    : amount.canonical();

const tolerates = (tolerations: readonly V1Toleration[], taint: V1Taint): boolean =>
  tolerations.some(
    ({ key = '', operator = 'Equal', value = '', effect = '' }) =>
      (effect === '' || effect === taint.effect) &&
      (key === '' ? operator === 'Exists' : key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  );

const CORDON = 'node.kubernetes.io/unschedulable';
const taintText = ({ key, value, effect }: V1Taint): string =>
  `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`;

const matchesNode = (pod: V1Pod, node: V1Node): boolean => {
  const labels = node.metadata?.labels ?? {};
  const { nodeSelector, affinity } = pod.spec ?? {};
  if (!Object.entries(nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms) return true;
  const fields: Record<string, string> = { 'metadata.name': node.metadata?.name ?? '' };
  return terms.some(
    ({ matchExpressions = [], matchFields = [] }) =>
      matchExpressions.length + matchFields.length > 0 &&
      matchExpressions.every((expression) => matchesNodeExpression(expression, labels[expression.key])) &&
      matchFields.every((expression) => matchesNodeExpression(expression, fields[expression.key])),
  );
};

const selectorText = ({ spec }: V1Pod): string =>
  [
    ...Object.entries(spec?.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(
      spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
    ).flatMap(({ matchExpressions = [] }) =>
      matchExpressions.map(({ key, operator, values }) =>
        `${key} ${operator} ${(values ?? []).join(',')}`.trim(),
      ),
    ),
  ].join(', ');

interface Lack {
  readonly node: string;
  readonly resource: string;
  readonly requested: Quantity;
  readonly free: Quantity;
}

/** What a node has less of than the pod asks for; the first by name. */
const lackOf = (pod: V1Pod, node: V1Node, placed: readonly V1Pod[]): Lack | undefined => {
  const name = node.metadata?.name ?? '';
  const allocatable = resourceListFrom(node.status?.allocatable);
  const others = placed.filter(
    ({ spec, status }) =>
      spec?.nodeName === name && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  );
  const requests = [...podRequests(pod, { useStatus: true })].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [resource, requested] of requests) {
    if (requested.isZero) continue;
    const used = others.reduce(
      (sum, other) => sum.add(podRequests(other, { useStatus: true }).get(resource) ?? ZERO),
      ZERO,
    );
    const held = (allocatable.get(resource) ?? ZERO).subtract(used);
    if (requested.compare(held) > 0)
      return { node: name, resource, requested, free: held.sign < 0 ? ZERO : held };
  }
  return undefined;
};

/** `deployment/web`, for a command that changes the template. */
const workloadOf = (b: GraphBuilder, pod: V1Pod): string | undefined => {
  const [kind = '', , name = ''] = b.rootOf(pod, 'Pod').split('/');
  return ['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind)
    ? `${kind.toLowerCase()}/${name}`
    : undefined;
};

const insufficient = (b: GraphBuilder, pod: V1Pod, lacks: readonly Lack[]): GraphReason => {
  const [resource] = [...new Set(lacks.map((lack) => lack.resource))];
  const best = lacks
    .filter((lack) => lack.resource === resource)
    .reduce((most, lack) => (lack.free.compare(most.free) > 0 ? lack : most));
  const target = workloadOf(b, pod);
  const { namespace } = metaOf(pod);
  return reasonOf(
    'error',
    say('graph.insufficient', {
      requested: amountText(best.resource, best.requested),
      resource: best.resource === 'cpu' ? 'CPU' : best.resource,
      node: best.node,
      free: amountText(best.resource, best.free),
    }),
    say('graph.fix.insufficient'),
    target === undefined || best.free.isZero
      ? null
      : shell`kubectl -n ${namespace} set resources ${target} --requests=${best.resource}=${best.free.canonical()}`,
  );
};

/** What the cluster's nodes say about a pod that has none; undefined: one of them would fit. */
const judgeNodes = (b: GraphBuilder, pod: V1Pod): GraphReason | undefined => {
  const { input } = b;
  if (input.unread.has('Node')) return undefined;
  const nodes = b.all<V1Node>('Node');
  if (nodes.length === 0) return reasonOf('error', say('graph.noNodes'), say('graph.fix.noNodes'));
  const matching = nodes.filter((node) => matchesNode(pod, node));
  if (matching.length === 0)
    return reasonOf(
      'error',
      say('graph.nodeSelectorMatchesNothing', { selector: selectorText(pod) }),
      say('graph.fix.nodeSelectorMatchesNothing'),
      'kubectl get nodes --show-labels',
    );
  const tolerations = pod.spec?.tolerations ?? [];
  const hardTaint = (node: V1Node): V1Taint | undefined =>
    (node.spec?.taints ?? []).find(
      (taint) =>
        taint.effect !== 'PreferNoSchedule' && taint.key !== CORDON && !tolerates(tolerations, taint),
    );
  const open = matching.filter((node) => hardTaint(node) === undefined);
  const taint = matching.map(hardTaint).find((one) => one !== undefined);
  if (open.length === 0 && taint)
    return reasonOf(
      'error',
      say('graph.taintNotTolerated', { taint: taintText(taint), count: matching.length }),
      say('graph.fix.taintNotTolerated'),
      shell`kubectl taint nodes ${matching[0]?.metadata?.name ?? 'NODE'} ${taintText(taint)}-`,
    );
  const schedulable = open.filter(({ spec }) => spec?.unschedulable !== true);
  if (schedulable.length === 0)
    return reasonOf(
      'error',
      say('graph.nodesCordoned'),
      say('graph.fix.nodesCordoned'),
      shell`kubectl uncordon ${open[0]?.metadata?.name ?? 'NODE'}`,
    );
  if (!input.placedPods) return undefined;
  const lacks = schedulable.map((node) => lackOf(pod, node, input.placedPods ?? []));
  const all = lacks.filter((lack) => lack !== undefined);
  return all.length === schedulable.length ? insufficient(b, pod, all) : undefined;
};

/** Whether the free capacity of nodes decides about any of these pods. */
export const isUnplaced = ({ spec, status, metadata }: V1Pod): boolean =>
  (spec?.nodeName ?? '') === '' &&
  (status?.phase ?? 'Pending') === 'Pending' &&
  metadata?.deletionTimestamp === undefined;

/** Why a pod without a node has none. */
export const explainScheduling = (b: GraphBuilder, pod: V1Pod): GraphReason => {
  const gates = (pod.spec?.schedulingGates ?? []).map(({ name }) => name);
  if (gates.length > 0)
    return reasonOf(
      'warning',
      say('graph.schedulingGated', { gates: gates.join(', ') }),
      say('graph.fix.schedulingGated'),
    );
  const found = judgeNodes(b, pod);
  if (found) return found;
  const condition = findCondition(pod.status?.conditions, 'PodScheduled');
  const { namespace, name } = metaOf(pod);
  const unbound = (pod.spec?.volumes ?? [])
    .map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? '')
    .find((claim) => {
      const found = b.get<V1PersistentVolumeClaim>('PersistentVolumeClaim', namespace, claim);
      return found !== undefined && found.status?.phase !== 'Bound';
    });
  if (unbound !== undefined && condition?.status === 'False')
    return reasonOf(
      'error',
      say('graph.waitsForClaim', { claim: unbound }),
      say('graph.fix.waitsForClaim'),
      shell`kubectl -n ${namespace} describe pvc ${unbound}`,
    );
  return condition?.status === 'False'
    ? reasonOf(
        'error',
        say('graph.unschedulable', { message: condition.message ?? condition.reason ?? '' }),
        say('graph.fix.unschedulable'),
        shell`kubectl -n ${namespace} describe pod ${name}`,
      )
    : reasonOf(
        'warning',
        say('graph.notScheduledYet', { scheduler: pod.spec?.schedulerName ?? 'default-scheduler' }),
        say('graph.fix.notScheduledYet'),
        'kubectl -n kube-system get lease kube-scheduler',
      );
};

import { shell } from '../base/shell-words.ts';
import { findCondition } from '../api/meta/index.ts';
import { evaluatorOf, quotaMatches, resourceListFrom } from '../api/quota/index.ts';
import { ZERO } from '../api/quantity/index.ts';
import type {
  V1Pod,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1ResourceQuota,
  V2HorizontalPodAutoscaler,
} from '../api/schema/index.ts';
import { selectorFromObject, selectorOrNothing } from '../api/selector/index.ts';
import { say, type GraphReason } from '../contract/index.ts';
import { idOf, metaOf, reasonOf, type GraphBuilder } from './graph-builder.ts';
import { isGraphKind } from './kinds.ts';
import { isLive } from './network.ts';
import { amountText } from './scheduling.ts';
import { workloadsOf, type Workload } from './workloads.ts';

const PODS = { group: '', resource: 'pods' };

/** A pod as it would be created from a template. */
const podOf = ({ object, template }: Workload): V1Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: metaOf(object).namespace,
    name: metaOf(object).name,
    labels: template?.metadata?.labels ?? {},
  },
  ...(template?.spec && { spec: template.spec }),
});

/** What one more pod would need beyond what the quota has left. */
const exceeded = (quota: V1ResourceQuota, pod: V1Pod): GraphReason[] => {
  const evaluator = evaluatorOf(PODS);
  if (!evaluator) return [];
  const { namespace, name } = metaOf(quota);
  const [hard, used] = [resourceListFrom(quota.status?.hard), resourceListFrom(quota.status?.used)];
  const usage = evaluator.usage(pod, 0);
  return evaluator.matchingResources([...hard.keys()]).flatMap((resource) => {
    const limit = hard.get(resource) ?? ZERO;
    const requested = usage.get(resource) ?? ZERO;
    const held = used.get(resource) ?? ZERO;
    if (requested.isZero || held.add(requested).compare(limit) <= 0) return [];
    return [
      reasonOf(
        'error',
        say('graph.quotaExceeded', {
          quota: name,
          resource,
          hard: amountText(resource, limit),
          used: amountText(resource, held),
          requested: amountText(resource, requested),
        }),
        say('graph.fix.quotaExceeded'),
        shell`kubectl -n ${namespace} patch resourcequota ${name} --type=merge -p ${JSON.stringify({ spec: { hard: { [resource]: held.add(requested).canonical() } } })}`,
      ),
    ];
  });
};

const failureOf = (b: GraphBuilder, { kind, object }: Workload): string | undefined => {
  const { status } = object as V1ReplicaSet;
  const condition = findCondition(status?.conditions, 'ReplicaFailure');
  return condition?.status === 'True' &&
    b.nodes.has(idOf(kind, metaOf(object).namespace, metaOf(object).name))
    ? (condition.message ?? '')
    : undefined;
};

const addQuotas = (b: GraphBuilder): void => {
  const quotas = b.all<V1ResourceQuota>('ResourceQuota');
  for (const workload of workloadsOf(b)) {
    const { kind, object, wanted, template } = workload;
    const { namespace, name } = metaOf(object);
    const id = idOf(kind, namespace, name);
    const failure = kind === 'Deployment' ? undefined : failureOf(b, workload);
    const reasons: GraphReason[] = [];
    const evaluator = evaluatorOf(PODS);
    if (template && evaluator && wanted > 0)
      for (const quota of quotas) {
        if (metaOf(quota).namespace !== namespace) continue;
        const pod = podOf(workload);
        if (!quotaMatches(quota, evaluator, pod)) continue;
        const quotaId = idOf('ResourceQuota', namespace, metaOf(quota).name);
        const isRoot = b.rootOf(object, kind) === id;
        // A quota that is full keeps nothing from a workload that has all of its pods.
        const found = kind !== 'Deployment' && created(object) < wanted ? exceeded(quota, pod) : [];
        reasons.push(...found);
        if (isRoot || found.length > 0) b.edge(quotaId, id, 'limits', found);
      }
    if (failure !== undefined && reasons.length === 0)
      b.explain(
        id,
        reasonOf('error', say('graph.createFailed', { message: failure }), say('graph.fix.createFailed')),
      );
  }
  for (const quota of quotas) {
    const hard = quota.status?.hard ?? quota.spec?.hard ?? {};
    const [first] = Object.keys(hard);
    if (first !== undefined)
      b.figures(
        idOf('ResourceQuota', metaOf(quota).namespace, metaOf(quota).name),
        `${first} ${quota.status?.used?.[first] ?? '0'}/${hard[first] ?? ''}`,
      );
  }
};

/** Pods that exist, ready or not. */
const created = (object: Workload['object']): number => {
  const status = object['status'] as
    { replicas?: number; currentNumberScheduled?: number; active?: number; succeeded?: number } | undefined;
  return (
    status?.replicas ?? status?.currentNumberScheduled ?? (status?.active ?? 0) + (status?.succeeded ?? 0)
  );
};

const addAutoscalers = (b: GraphBuilder): void => {
  for (const scaler of b.all<V2HorizontalPodAutoscaler>('HorizontalPodAutoscaler')) {
    const { namespace, name } = metaOf(scaler);
    const id = idOf('HorizontalPodAutoscaler', namespace, name);
    const { scaleTargetRef: target, minReplicas, maxReplicas } = scaler.spec ?? {};
    b.figures(id, `${scaler.status?.currentReplicas ?? 0} (${minReplicas ?? 1}-${maxReplicas ?? 0})`);
    if (target && isGraphKind(target.kind))
      b.refer(id, { kind: target.kind, namespace, name: target.name }, 'scales');
    const active = findCondition(scaler.status?.conditions, 'ScalingActive');
    if (active?.status === 'False' && active.reason !== 'ScalingDisabled')
      b.explain(
        id,
        reasonOf(
          'warning',
          say('graph.scalingInactive', { message: active.message ?? active.reason ?? '' }),
          say('graph.fix.scalingInactive'),
          shell`kubectl -n ${namespace} describe hpa ${name}`,
        ),
      );
  }
};

const addBudgets = (b: GraphBuilder): void => {
  const pods = b.all<V1Pod>('Pod').filter(isLive);
  for (const budget of b.all<V1PodDisruptionBudget>('PodDisruptionBudget')) {
    const { namespace, name } = metaOf(budget);
    const id = idOf('PodDisruptionBudget', namespace, name);
    const {
      currentHealthy = 0,
      desiredHealthy = 0,
      disruptionsAllowed = 0,
      expectedPods = 0,
    } = budget.status ?? {};
    b.figures(id, String(disruptionsAllowed));
    const selector = selectorOrNothing(() => selectorFromObject(budget.spec?.selector));
    const selected = pods.filter(
      (pod) => metaOf(pod).namespace === namespace && selector.matches(pod.metadata?.labels ?? {}),
    );
    for (const root of new Set(selected.map((pod) => b.rootOf(pod, 'Pod')))) b.edge(id, root, 'protects');
    if (selected.length === 0 && !b.input.unread.has('Pod'))
      b.explain(
        id,
        reasonOf(
          'warning',
          say('graph.selectorMatchesNothing', { selector: selector.toString() }),
          say('graph.fix.selectorMatchesNothing'),
        ),
      );
    else if (disruptionsAllowed === 0 && expectedPods > 0)
      b.explain(
        id,
        reasonOf(
          'warning',
          say('graph.evictionsBlocked', { healthy: currentHealthy, desired: desiredHealthy }),
          say('graph.fix.evictionsBlocked'),
        ),
      );
  }
};

/** Quotas, autoscalers and disruption budgets. */
export const addLimits = (b: GraphBuilder): void => {
  addQuotas(b);
  addAutoscalers(b);
  addBudgets(b);
};

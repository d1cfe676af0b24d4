import { quantity } from '../../api/validation/read.ts';
import { isPodReady, type Pod } from '../../client/index.ts';

/** How far usage may be from its target before anything is scaled, as parts of the target. */
export interface Tolerances {
  readonly scaleDown: number;
  readonly scaleUp: number;
}

export interface PodMetric {
  readonly timestampMs: number;
  readonly windowMs: number;
  /** In thousandths. */
  readonly milliValue: number;
}

/** By the name of the pod. */
export type PodMetrics = ReadonlyMap<string, PodMetric>;

export interface ReadinessRules {
  /** --horizontal-pod-autoscaler-cpu-initialization-period. */
  readonly cpuInitializationMs: number;
  /** --horizontal-pod-autoscaler-initial-readiness-delay. */
  readonly initialReadinessDelayMs: number;
  readonly nowMs: number;
}

export interface PodGroups {
  readonly readyCount: number;
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
}

const INT32_MAX = 2 ** 31 - 1;
const NO_PODS = 'no pods returned by selector while calculating replica count';
const NO_METRICS = 'did not receive metrics for targeted pods (pods might be unready)';

const nameOf = ({ metadata }: Pod): string => metadata?.name ?? '';
const timeOf = (text: string | undefined): number => Date.parse(text ?? '');

/** CPU of a pod that starts says nothing about its load. */
const isStarting = ({ status }: Pod, metric: PodMetric, rules: ReadinessRules): boolean => {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  const startMs = timeOf(status?.startTime);
  if (!condition || Number.isNaN(startMs)) return true;
  const changedMs = timeOf(condition.lastTransitionTime);
  const isFalse = condition.status === 'False';
  return startMs + rules.cpuInitializationMs > rules.nowMs
    ? isFalse || metric.timestampMs < changedMs + metric.windowMs
    : isFalse && startMs + rules.initialReadinessDelayMs > changedMs;
};

export const groupPods = (
  pods: readonly Pod[],
  metrics: PodMetrics,
  resource: string,
  rules: ReadinessRules,
): PodGroups => {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let readyCount = 0;
  for (const pod of pods) {
    const name = nameOf(pod);
    const metric = metrics.get(name);
    if (pod.metadata?.deletionTimestamp !== undefined || pod.status?.phase === 'Failed') ignored.add(name);
    else if (pod.status?.phase === 'Pending') unready.add(name);
    else if (!metric) missing.add(name);
    else if (resource === 'cpu' && isStarting(pod, metric, rules)) unready.add(name);
    else readyCount += 1;
  }
  return { readyCount, unready, missing, ignored };
};

const milliOf = (value: unknown): number | undefined => {
  const parsed = value === undefined ? undefined : quantity(value);
  return parsed && Number(parsed.milliValue());
};

const requestOf = (pod: Pod, resource: string, container: string): number => {
  const { spec } = pod;
  const ofPod = spec?.resources?.requests;
  if (ofPod && container === '') {
    const request = milliOf(ofPod[resource]);
    if (request === undefined)
      throw new Error(`missing pod-level request for ${resource} in Pod ${nameOf(pod)}`);
    return request;
  }
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const counted = [...(spec?.containers ?? []), ...sidecars].filter(
    ({ name }) => container === '' || name === container,
  );
  if (container !== '' && counted.length === 0)
    throw new Error(`container ${container} not found in Pod ${nameOf(pod)}`);
  return counted.reduce((total, { name, resources }) => {
    const request = milliOf(resources?.requests?.[resource]);
    if (request === undefined)
      throw new Error(`missing request for ${resource} in container ${name} of Pod ${nameOf(pod)}`);
    return total + request;
  }, 0);
};

/** The requests of pods in thousandths; of one container where one is named. Throws where one has none. */
export const requestsOf = (
  pods: readonly Pod[],
  resource: string,
  container: string,
): ReadonlyMap<string, number> =>
  new Map(pods.map((pod) => [nameOf(pod), requestOf(pod, resource, container)]));

interface Ratio {
  /** Of usage to target. */
  readonly ratio: number;
  /** In percent of the requests; 0 for plain metrics. */
  readonly utilization: number;
  readonly average: number;
}

const utilizationRatio = (
  metrics: PodMetrics,
  requests: ReadonlyMap<string, number>,
  target: number,
): Ratio => {
  let [used, requested, count] = [0, 0, 0];
  for (const [name, { milliValue }] of metrics) {
    const request = requests.get(name);
    if (request === undefined) continue;
    used += milliValue;
    requested += request;
    count += 1;
  }
  if (requested === 0) throw new Error('no metrics returned matched known pods');
  const utilization = Math.trunc((used * 100) / requested);
  return { ratio: utilization / target, utilization, average: Math.trunc(used / count) };
};

const usageRatio = (metrics: PodMetrics, target: number): Ratio => {
  let used = 0;
  for (const { milliValue } of metrics.values()) used += milliValue;
  const average = Math.trunc(used / metrics.size);
  return { ratio: average / target, utilization: 0, average };
};

const isWithin = ({ scaleDown, scaleUp }: Tolerances, ratio: number): boolean =>
  1 - scaleDown <= ratio && ratio <= 1 + scaleUp;

const without = (metrics: PodMetrics, ...names: readonly ReadonlySet<string>[]): Map<string, PodMetric> =>
  new Map([...metrics].filter(([name]) => !names.some((set) => set.has(name))));

export interface PodCount {
  readonly pods: readonly Pod[];
  readonly metrics: PodMetrics;
  readonly currentReplicas: number;
  /** Empty for what is not a resource. */
  readonly resource: string;
  readonly tolerances: Tolerances;
  readonly rules: ReadinessRules;
}

export interface PodProposal {
  readonly replicas: number;
  readonly utilization: number;
  readonly average: number;
}

/** Scaled in the other direction than without the assumptions: then nothing is known well enough. */
const turnsAround = (before: number, after: number): boolean =>
  (before < 1 && after > 1) || (before > 1 && after < 1);

const propose = (
  { pods, metrics, currentReplicas, resource, tolerances, rules }: PodCount,
  ratioOf: (metrics: PodMetrics) => Ratio,
  assumedOnScaleDown: (name: string) => number,
): PodProposal => {
  if (pods.length === 0) throw new Error(NO_PODS);
  const { readyCount, unready, missing, ignored } = groupPods(pods, metrics, resource, rules);
  const counted = without(metrics, ignored, unready);
  if (counted.size === 0) throw new Error(NO_METRICS);
  const { ratio, utilization, average } = ratioOf(counted);
  const answer = (replicas: number): PodProposal => ({ replicas, utilization, average });
  const addsUnready = unready.size > 0 && ratio > 1;
  if (!addsUnready && missing.size === 0)
    return answer(isWithin(tolerances, ratio) ? currentReplicas : Math.ceil(ratio * readyCount));
  const assumed = (milliValue: number): PodMetric => ({ timestampMs: 0, windowMs: 0, milliValue });
  if (ratio < 1) for (const name of missing) counted.set(name, assumed(assumedOnScaleDown(name)));
  if (ratio > 1) for (const name of missing) counted.set(name, assumed(0));
  if (addsUnready) for (const name of unready) counted.set(name, assumed(0));
  const { ratio: next } = ratioOf(counted);
  if (isWithin(tolerances, next) || turnsAround(ratio, next)) return answer(currentReplicas);
  const replicas = Math.ceil(next * counted.size);
  const isOpposite = (next < 1 && replicas > currentReplicas) || (next > 1 && replicas < currentReplicas);
  return answer(isOpposite ? currentReplicas : replicas);
};

/** By utilization: usage in percent of what pods request. */
export const utilizationReplicas = (
  count: PodCount,
  { target, container }: { readonly target: number; readonly container: string },
): PodProposal => {
  if (count.pods.length === 0) throw new Error(NO_PODS);
  const { unready, ignored } = groupPods(count.pods, count.metrics, count.resource, count.rules);
  if (without(count.metrics, ignored, unready).size === 0) throw new Error(NO_METRICS);
  const requests = requestsOf(count.pods, count.resource, container);
  const fallback = Math.max(100, target);
  return propose(
    count,
    (metrics) => utilizationRatio(metrics, requests, target),
    (name) => Math.trunc(((requests.get(name) ?? 0) * fallback) / 100),
  );
};

/** By an average over pods, in thousandths. */
export const averageReplicas = (count: PodCount, target: number): PodProposal =>
  propose(
    count,
    (metrics) => usageRatio(metrics, target),
    () => target,
  );

const atMost = (replicas: number): number => Math.min(replicas, INT32_MAX);

/** By one value for all pods: of an object, or from outside the cluster. */
export const valueReplicas = (
  value: number,
  target: number,
  { currentReplicas, tolerances, pods }: Pick<PodCount, 'currentReplicas' | 'tolerances' | 'pods'>,
): number => {
  const ratio = value / target;
  if (currentReplicas === 0) return atMost(Math.ceil(ratio));
  if (isWithin(tolerances, ratio)) return currentReplicas;
  if (pods.length === 0) throw new Error(`unable to calculate ready pods: ${NO_PODS}`);
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
  return atMost(Math.ceil(ratio * ready));
};

/** By one value that is shared by all pods. */
export const sharedReplicas = (
  value: number,
  target: number,
  { statusReplicas, tolerances }: { readonly statusReplicas: number; readonly tolerances: Tolerances },
): { readonly replicas: number; readonly average: number } => ({
  replicas: isWithin(tolerances, value / (target * statusReplicas))
    ? statusReplicas
    : atMost(Math.ceil(value / target)),
  average: statusReplicas === 0 ? value : Math.ceil(value / statusReplicas),
});

import { parseTime, type KubernetesObject } from '../meta/index.ts';
import { ofUnits } from '../quantity/index.ts';
import type {
  V1Container,
  V1Pod,
  V1PodAffinityTerm,
  V1ScopedResourceSelectorRequirement,
} from '../schema/generated/types.ts';
import { matchesValueExpression } from '../selector/index.ts';
import { objectCountName, type Evaluator } from './evaluator.ts';
import { isBestEffort, podLimits, podRequests, setsPodLevelResources } from './pod-resources.ts';
import { addResources, resourceListFrom, type ResourceList } from './resource-list.ts';
import { isChargedAsExtended, isExtendedQuotaName, isHugePages, REQUESTS_PREFIX } from './resource-names.ts';

const PODS = { group: '', resource: 'pods' };
const COUNT = objectCountName(PODS);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'] as const;

const NAMES: ReadonlySet<string> = new Set([
  COUNT,
  'pods',
  ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** Upstream calls this a mistake that must not grow: a quota on these makes every container name them. */
const DEMANDED: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);

const computeUsage = (requests: ResourceList, limits: ResourceList): ResourceList => {
  const usage = new Map([['pods', ofUnits(1n)]]);
  for (const name of COMPUTE) {
    const [request, limit] = [requests.get(name), limits.get(name)];
    if (request) usage.set(name, request).set(`requests.${name}`, request);
    if (limit) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (isHugePages(name)) usage.set(name, request);
    if (isHugePages(name) || isChargedAsExtended(name)) usage.set(`${REQUESTS_PREFIX}${name}`, request);
  }
  return usage;
};

const hasDeadline = ({ spec }: V1Pod): boolean => (spec?.activeDeadlineSeconds ?? -1) >= 0;

const crossesNamespaces = ({ spec }: V1Pod): boolean => {
  const crosses = (term: V1PodAffinityTerm): boolean =>
    (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined;
  return [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity].some(
    (affinity) =>
      (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(crosses) ||
      (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).some(({ podAffinityTerm }) =>
        crosses(podAffinityTerm),
      ),
  );
};

const matchesScope = (selector: V1ScopedResourceSelectorRequirement, object: KubernetesObject): boolean => {
  const pod = object as V1Pod;
  switch (selector.scopeName) {
    case 'Terminating':
      return hasDeadline(pod);
    case 'NotTerminating':
      return !hasDeadline(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass':
      return matchesValueExpression(selector, pod.spec?.priorityClassName || undefined);
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(pod);
    default:
      return false;
  }
};

/** Neither ended, nor overdue for its end: a pod on a lost node must not keep its owner from starting another. */
const isCharged = ({ metadata, status }: V1Pod, nowMs: number): boolean => {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  const graceSeconds = metadata?.deletionGracePeriodSeconds;
  if (!metadata?.deletionTimestamp || graceSeconds === undefined) return true;
  return nowMs <= (parseTime(metadata.deletionTimestamp) ?? nowMs) + graceSeconds * 1000;
};

const namesOf = ({ resources }: V1Container): ReadonlySet<string> =>
  new Set(computeUsage(resourceListFrom(resources?.requests), resourceListFrom(resources?.limits)).keys());

export const podEvaluator: Evaluator = {
  resource: PODS,
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    // A deadline that comes or goes moves the pod from one scope to another.
    if (operation === 'UPDATE') return hasDeadline(object as V1Pod) !== hasDeadline(oldObject as V1Pod);
    return operation === 'CREATE';
  },
  matchingResources(asked) {
    const other = (name: string): boolean =>
      isHugePages(name) || name.startsWith('requests.hugepages-') || isExtendedQuotaName(name);
    return [...asked.filter((name) => NAMES.has(name)).sort(), ...asked.filter(other)];
  },
  matchesScope,
  missing(required, object) {
    const pod = object as V1Pod;
    if (setsPodLevelResources(pod)) return undefined;
    const demanded = required.filter((name) => DEMANDED.has(name));
    const lacking = new Map<string, Set<string>>();
    for (const container of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]) {
      const said = namesOf(container);
      for (const name of demanded)
        if (!said.has(name)) lacking.set(name, (lacking.get(name) ?? new Set()).add(container.name));
    }
    if (lacking.size === 0) return undefined;
    const parts = [...lacking].sort(([a], [b]) => (a < b ? -1 : 1));
    return `must specify ${parts.map(([name, who]) => `${name} for: ${[...who].sort().join(',')}`).join('; ')}`;
  },
  usage(object, nowMs) {
    const pod = object as V1Pod;
    const counted: ResourceList = new Map([[COUNT, ofUnits(1n)]]);
    if (!isCharged(pod, nowMs)) return counted;
    const options = { useStatus: true };
    return addResources(counted, computeUsage(podRequests(pod, options), podLimits(pod, options)));
  },
};

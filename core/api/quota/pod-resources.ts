import type { V1Container, V1ContainerStatus, V1Pod } from '../schema/generated/types.ts';
import {
  addResources,
  maxResources,
  NO_RESOURCES,
  resourceListFrom,
  type ResourceList,
} from './resource-list.ts';
import { isPodLevelResource } from './resource-names.ts';

type ListOf = (container: V1Container, status: V1ContainerStatus | undefined) => ResourceList;

export interface PodResourcesOptions {
  /** Count what runs, too, where a resize is in progress. */
  readonly useStatus: boolean;
  readonly excludeOverhead?: boolean;
}

const isSidecar = (container: V1Container): boolean => container.restartPolicy === 'Always';

/** Containers run immediately with the sidecars; init containers one after another, each beside the sidecars before it. */
const aggregate = ({ spec, status }: V1Pod, useStatus: boolean, listOf: ListOf): ResourceList => {
  const statuses = useStatus
    ? [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
    : [];
  const of = (container: V1Container): ResourceList =>
    listOf(
      container,
      statuses.find(({ name }) => name === container.name),
    );
  let running = (spec?.containers ?? []).map(of).reduce(addResources, NO_RESOURCES);
  let sidecars = NO_RESOURCES;
  let starting = NO_RESOURCES;
  for (const container of spec?.initContainers ?? []) {
    const own = of(container);
    if (isSidecar(container)) {
      running = addResources(running, own);
      sidecars = addResources(sidecars, own);
      starting = maxResources(starting, sidecars);
    } else starting = maxResources(starting, addResources(own, sidecars));
  }
  return maxResources(running, starting);
};

const isResizeInfeasible = ({ status }: V1Pod): boolean =>
  (status?.conditions ?? []).find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';

const podLevel = (wire: Record<string, string> | undefined): ResourceList =>
  new Map([...resourceListFrom(wire)].filter(([name]) => isPodLevelResource(name)));

const override = (list: ResourceList, by: ResourceList): ResourceList => new Map([...list, ...by]);

/** Whether the pod sets resources for all of its containers at the same time. */
export const setsPodLevelResources = ({ spec }: V1Pod): boolean =>
  podLevel(spec?.resources?.requests).size > 0 || podLevel(spec?.resources?.limits).size > 0;

const aggregateRequests = (pod: V1Pod, useStatus: boolean): ResourceList => {
  const wanted = aggregate(pod, false, ({ resources }) => resourceListFrom(resources?.requests));
  if (!useStatus) return wanted;
  const isInfeasible = isResizeInfeasible(pod);
  const wish: ListOf = ({ resources }) =>
    isInfeasible ? NO_RESOURCES : resourceListFrom(resources?.requests);
  const allocated = aggregate(pod, true, (container, status) =>
    status?.allocatedResources ? resourceListFrom(status.allocatedResources) : wish(container, status),
  );
  const actual = aggregate(pod, true, (container, status) => {
    const held = status?.resources?.requests ?? status?.allocatedResources;
    return held ? resourceListFrom(held) : wish(container, status);
  });
  const held = maxResources(actual, allocated);
  return isInfeasible ? held : maxResources(wanted, held);
};

const aggregateLimits = (pod: V1Pod, useStatus: boolean): ResourceList => {
  const wanted = aggregate(pod, false, ({ resources }) => resourceListFrom(resources?.limits));
  if (!useStatus) return wanted;
  const isInfeasible = isResizeInfeasible(pod);
  const actual = aggregate(pod, true, ({ resources }, status) => {
    if (status?.resources?.limits) return resourceListFrom(status.resources.limits);
    return isInfeasible ? NO_RESOURCES : resourceListFrom(resources?.limits);
  });
  return isInfeasible ? actual : maxResources(wanted, actual);
};

/** What a node must have free for the pod. */
export const podRequests = (
  pod: V1Pod,
  { useStatus, excludeOverhead = false }: PodResourcesOptions,
): ResourceList => {
  const requests = override(aggregateRequests(pod, useStatus), podLevel(pod.spec?.resources?.requests));
  return excludeOverhead ? requests : addResources(requests, resourceListFrom(pod.spec?.overhead));
};

/** The most that the pod may use; what has no limit is not in the list. */
export const podLimits = (
  pod: V1Pod,
  { useStatus, excludeOverhead = false }: PodResourcesOptions,
): ResourceList => {
  const limits = override(aggregateLimits(pod, useStatus), podLevel(pod.spec?.resources?.limits));
  if (excludeOverhead) return limits;
  const overhead = resourceListFrom(pod.spec?.overhead);
  const limited = new Map([...overhead].filter(([name]) => limits.get(name)?.isZero === false));
  return addResources(limits, limited);
};

/** No container asks for any cpu or memory. */
export const isBestEffort = (pod: V1Pod): boolean => {
  const { spec, status } = pod;
  if (status?.qosClass) return status.qosClass === 'BestEffort';
  const requirements = setsPodLevelResources(pod)
    ? [spec?.resources]
    : [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ resources }) => resources);
  return requirements.every((one) =>
    [resourceListFrom(one?.requests), resourceListFrom(one?.limits)].every((list) =>
      ['cpu', 'memory'].every((name) => list.get(name)?.isZero ?? true),
    ),
  );
};

import { ACTION } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { Status } from '../../framework/status.ts';
import type { NodeColumns } from '../../cache/node-columns.ts';
import type { Node, Pod } from '../../model/objects.ts';
import { podInfoOf, type PodRequest } from '../../model/pod-info.ts';
import { amountOf, CPU, EPHEMERAL_STORAGE, isExtendedResource, MEMORY } from '../../model/resources.ts';
import { NODE_RESOURCES_FIT } from '../../framework/plugin-names.ts';
import { scoredResource } from './resource-columns.ts';
import { scorerOf, type ScoringStrategy } from './scoring-strategy.ts';

export interface NodeResourcesFitArgs {
  /** Extended resources that a pod may ask for without any node having them. */
  readonly ignoredResources?: readonly string[];
  readonly ignoredResourceGroups?: readonly string[];
  readonly scoringStrategy?: ScoringStrategy;
}

const insufficient = (resource: string): string => `Insufficient ${resource}`;

/** Rejections are few and shared by many nodes: one object for each set of reasons. */
const statuses = new Map<string, Status>();
/** Sets of reasons kept; extended resource names are the only part that varies. */
const STATUSES_MAX = 1024;

const rejection = (reasons: readonly string[], isUnresolvable: boolean): Status => {
  const key = `${isUnresolvable}${reasons.join('\n')}`;
  let status = statuses.get(key);
  if (!status) {
    if (statuses.size >= STATUSES_MAX) statuses.clear();
    status = {
      code: isUnresolvable ? 'UnschedulableAndUnresolvable' : 'Unschedulable',
      reasons,
      plugin: NODE_RESOURCES_FIT,
    };
    statuses.set(key, status);
  }
  return status;
};

/** The node is known to be too small: says by what. */
const explain = (
  columns: NodeColumns,
  request: PodRequest,
  slot: number,
  isIgnored: (name: string) => boolean,
): Status | undefined => {
  const reasons: string[] = [];
  let isUnresolvable = false;
  const compare = (name: string, wanted: number, allocatable: number, requested: number): void => {
    if (wanted <= 0 || wanted <= allocatable - requested) return;
    reasons.push(insufficient(name));
    if (wanted > allocatable) isUnresolvable = true;
  };
  if (columns.podCount[slot]! + 1 > columns.allowedPods[slot]!) reasons.push('Too many pods');
  compare(CPU, request.milliCpu, columns.allocatableMilliCpu[slot]!, columns.requestedMilliCpu[slot]!);
  compare(MEMORY, request.memory, columns.allocatableMemory[slot]!, columns.requestedMemory[slot]!);
  compare(
    EPHEMERAL_STORAGE,
    request.ephemeralStorage,
    columns.allocatableEphemeralStorage[slot]!,
    columns.requestedEphemeralStorage[slot]!,
  );
  for (const [name, amount] of request.scalars) {
    if (isIgnored(name)) continue;
    const column = columns.scalars.get(name);
    compare(name, amount, column?.allocatable[slot] ?? 0, column?.requested[slot] ?? 0);
  }
  return reasons.length === 0 ? undefined : rejection(reasons, isUnresolvable);
};

const freesWhatIsWanted = (pod: Pod, deleted: Pod): boolean => {
  const wanted = podInfoOf(pod).request;
  const freed = podInfoOf(deleted).request;
  return (
    deleted.spec.nodeName !== undefined &&
    (wanted.milliCpu + wanted.memory + wanted.ephemeralStorage === 0 ||
      (wanted.milliCpu > 0 && freed.milliCpu > 0) ||
      (wanted.memory > 0 && freed.memory > 0) ||
      (wanted.ephemeralStorage > 0 && freed.ephemeralStorage > 0) ||
      [...wanted.scalars.keys()].some((name) => (freed.scalars.get(name) ?? 0) > 0))
  );
};

/** Whether the pod would fit the node if it were empty. */
const couldHold = (pod: Pod, node: Node): boolean => {
  const { request } = podInfoOf(pod);
  const allocatable = node.status?.allocatable ?? {};
  return (
    amountOf('pods', allocatable['pods']) > 0 &&
    request.milliCpu <= amountOf(CPU, allocatable[CPU]) &&
    request.memory <= amountOf(MEMORY, allocatable[MEMORY]) &&
    request.ephemeralStorage <= amountOf(EPHEMERAL_STORAGE, allocatable[EPHEMERAL_STORAGE]) &&
    [...request.scalars].every(([name, amount]) => amount <= amountOf(name, allocatable[name]))
  );
};

export const nodeResourcesFit = (args: NodeResourcesFitArgs = {}): Plugin => {
  const scorer = scorerOf(args.scoringStrategy ?? { type: 'LeastAllocated' });
  const ignoredResources = new Set(args.ignoredResources);
  const ignoredGroups = new Set(args.ignoredResourceGroups);
  const isIgnored = (name: string): boolean =>
    isExtendedResource(name) &&
    (ignoredResources.has(name) || ignoredGroups.has(name.slice(0, name.indexOf('/'))));
  return {
    name: NODE_RESOURCES_FIT,
    filter(cycle, { request }, slot) {
      const { columns } = cycle.snapshot;
      if (
        columns.podCount[slot]! + 1 <= columns.allowedPods[slot]! &&
        (request.milliCpu === 0 ||
          request.milliCpu <= columns.allocatableMilliCpu[slot]! - columns.requestedMilliCpu[slot]!) &&
        (request.memory === 0 ||
          request.memory <= columns.allocatableMemory[slot]! - columns.requestedMemory[slot]!) &&
        request.ephemeralStorage === 0 &&
        request.scalars.size === 0
      )
        return undefined;
      return explain(columns, request, slot, isIgnored);
    },
    score(cycle, pod, slots, scores) {
      const weights = new Float64Array(slots.length);
      for (const { name, weight } of scorer.resources) {
        const resource = scoredResource(cycle.snapshot, pod, name, true);
        if (!resource) continue;
        const { allocatable, allocated, podRequest } = resource;
        for (let at = 0; at < slots.length; at += 1) {
          const slot = slots[at]!;
          const capacity = allocatable[slot]!;
          if (capacity === 0) continue;
          const score = scorer.score(allocated[slot]! + podRequest, capacity);
          if (scorer.ignoresZero && score <= 0) continue;
          scores[at]! += score * weight;
          weights[at]! += weight;
        }
      }
      for (let at = 0; at < slots.length; at += 1) {
        const mean = weights[at] === 0 ? 0 : scores[at]! / weights[at]!;
        scores[at] = scorer.ignoresZero ? Math.round(mean) : Math.floor(mean);
      }
      return undefined;
    },
    eventsToRegister: () => [
      {
        resource: 'AssignedPod',
        action: ACTION.delete | ACTION.updatePodScaleDown,
        hint: (pod, before) => (freesWhatIsWanted(pod, before as Pod) ? 'Queue' : 'QueueSkip'),
      },
      {
        resource: 'Node',
        action: ACTION.add | ACTION.updateNodeAllocatable,
        hint: (pod, _, node) => (couldHold(pod, node as Node) ? 'Queue' : 'QueueSkip'),
      },
      { resource: 'TargetPod', action: ACTION.updatePodScaleDown },
    ],
  };
};

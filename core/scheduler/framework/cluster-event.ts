import type { Pod } from '../model/objects.ts';

export type EventResource =
  | 'AssignedPod'
  | 'UnscheduledPod'
  | 'TargetPod'
  | 'Node'
  | 'PersistentVolume'
  | 'PersistentVolumeClaim'
  | 'StorageClass'
  | 'CSINode'
  | 'CSIDriver'
  | 'CSIStorageCapacity'
  | 'PodGroup'
  | '*';

/** What changed, as bits, so that one event can say several things. */
export const ACTION = {
  add: 1,
  delete: 2,
  updateNodeAllocatable: 4,
  updateNodeLabel: 8,
  updateNodeTaint: 16,
  updateNodeCondition: 32,
  updateNodeAnnotation: 64,
  updatePodLabel: 128,
  updatePodScaleDown: 256,
  updatePodToleration: 512,
  updatePodSchedulingGatesEliminated: 1024,
  updateOther: 2048,
} as const;
export const ACTION_UPDATE = 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048;
export const ACTION_ALL = ACTION_UPDATE | 1 | 2;

export interface ClusterEvent {
  readonly resource: EventResource;
  readonly action: number;
  /** The label of `scheduler_queue_incoming_pods_total`. */
  readonly label: string;
}

export type QueueingHint = 'Queue' | 'QueueSkip';
export type QueueingHintFn = (pod: Pod, oldObject: unknown, newObject: unknown) => QueueingHint;

export interface ClusterEventWithHint {
  readonly resource: EventResource;
  readonly action: number;
  /** Without it, the event always makes another try worth while. */
  readonly hint?: QueueingHintFn;
}

export const eventMatches = (
  registered: { readonly resource: EventResource; readonly action: number },
  coming: ClusterEvent,
): boolean =>
  (registered.resource === '*' || coming.resource === '*' || registered.resource === coming.resource) &&
  (registered.action & coming.action) !== 0;

export const EVENT_UNSCHEDULED_POD_ADD: ClusterEvent = {
  resource: 'UnscheduledPod',
  action: ACTION.add,
  label: 'PodAdd',
};
export const EVENT_ASSIGNED_POD_DELETE: ClusterEvent = {
  resource: 'AssignedPod',
  action: ACTION.delete,
  label: 'AssignedPodDelete',
};
export const EVENT_UNSCHEDULABLE_TIMEOUT: ClusterEvent = {
  resource: '*',
  action: ACTION_ALL,
  label: 'UnschedulableTimeout',
};
export const EVENT_FORCE_ACTIVATE: ClusterEvent = {
  resource: '*',
  action: ACTION_ALL,
  label: 'ForceActivate',
};

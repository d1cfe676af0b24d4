import type { KubernetesObject } from '../../api/meta/index.ts';
import { CSI_DRIVER, CSI_NODE, CSI_STORAGE_CAPACITY, NODE, PERSISTENT_VOLUME } from '../../client/index.ts';
import { PERSISTENT_VOLUME_CLAIM, POD, STORAGE_CLASS } from '../../client/index.ts';
import type { HandlerRegistration, Informer, Kind } from '../../client/index.ts';
import type { SchedulerCache } from '../cache/cache.ts';
import {
  ACTION,
  EVENT_ASSIGNED_POD_DELETE,
  EVENT_UNSCHEDULED_POD_ADD,
  type ClusterEvent,
  type EventResource,
} from '../framework/cluster-event.ts';
import { isTerminal, type Node, type Pod } from '../model/objects.ts';
import { podInfoOf } from '../model/pod-info.ts';
import { nodeChanges, podChanges } from '../queue/object-changes.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import { POD_GROUP } from './cluster-lister.ts';
import type { WaitingPods } from './waiting-pods.ts';

export interface EventTargets {
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly waitingPods: WaitingPods;
  readonly isResponsibleFor: (pod: Pod) => boolean;
}

const EVENT_ASSIGNED_POD_ADD: ClusterEvent = {
  resource: 'AssignedPod',
  action: ACTION.add,
  label: 'AssignedPodAdd',
};
const EVENT_NODE_ADD: ClusterEvent = { resource: 'Node', action: ACTION.add, label: 'NodeAdd' };
const EVENT_NODE_DELETE: ClusterEvent = { resource: 'Node', action: ACTION.delete, label: 'NodeDelete' };

const isAssigned = (pod: Pod): boolean => Boolean(pod.spec.nodeName);

/** What pods of the informer mean to cache and queue. */
export class PodEvents {
  readonly #targets: EventTargets;

  constructor(targets: EventTargets) {
    this.#targets = targets;
  }

  added(pod: Pod): void {
    if (isTerminal(pod)) return;
    if (isAssigned(pod)) this.#assigned(pod);
    else this.#pending(pod);
  }

  updated(before: Pod, after: Pod): void {
    if (before.metadata.uid !== after.metadata.uid) {
      this.deleted(before);
      this.added(after);
      return;
    }
    if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
    // A pod that has ended gives back what it held, though its object stays.
    if (isTerminal(after)) {
      if (!isTerminal(before)) this.deleted(after.spec.nodeName ? after : before);
      return;
    }
    if (isAssigned(before) && isAssigned(after)) this.#assignedChanged(before, after);
    else if (isAssigned(after)) {
      this.#targets.queue.delete(after.metadata.uid ?? '');
      this.#assigned(after);
    } else this.#pendingChanged(before, after);
  }

  deleted(pod: Pod): void {
    const { cache, queue, waitingPods } = this.#targets;
    const uid = pod.metadata.uid ?? '';
    const wasCounted = cache.getPod(uid) !== undefined;
    const wasAssumed = cache.isAssumed(uid);
    queue.delete(uid);
    // A waiting pod is forgotten by its own binding cycle, which gives back what plugins reserved.
    if (wasAssumed && waitingPods.reject(uid, '', 'pod was deleted')) return;
    cache.removePod(uid);
    if (wasCounted) queue.moveAll(EVENT_ASSIGNED_POD_DELETE, pod, undefined);
    else if (pod.status?.nominatedNodeName) this.#roomPromisedIsFree(pod);
  }

  #pending(pod: Pod): void {
    const { queue, isResponsibleFor } = this.#targets;
    if (!isResponsibleFor(pod)) return;
    queue.add(podInfoOf(pod));
    queue.moveAll(EVENT_UNSCHEDULED_POD_ADD, undefined, pod, ({ uid }) => uid !== pod.metadata.uid);
  }

  #pendingChanged(before: Pod, after: Pod): void {
    const { cache, queue, isResponsibleFor } = this.#targets;
    if (!isResponsibleFor(after)) return;
    // Our own writes to a pod that is being bound.
    if (cache.isAssumed(after.metadata.uid ?? '')) return;
    queue.update(before, after);
    const nominated = before.status?.nominatedNodeName;
    if (nominated && nominated !== after.status?.nominatedNodeName) this.#roomPromisedIsFree(before);
  }

  #roomPromisedIsFree(pod: Pod): void {
    const priority = pod.spec.priority ?? 0;
    this.#targets.queue.moveAll(
      EVENT_ASSIGNED_POD_DELETE,
      pod,
      undefined,
      (info) => info.priority <= priority && info.uid !== pod.metadata.uid,
    );
  }

  #assigned(pod: Pod): void {
    this.#targets.cache.setPod(pod);
    this.#targets.queue.moveAll(EVENT_ASSIGNED_POD_ADD, undefined, pod);
  }

  #assignedChanged(before: Pod, after: Pod): void {
    this.#targets.cache.setPod(after);
    for (const event of podChanges(before, after, 'AssignedPod'))
      this.#targets.queue.moveAll(event, before, after);
  }
}

const RESOURCE_OF: readonly (readonly [Kind, EventResource])[] = [
  [PERSISTENT_VOLUME as Kind, 'PersistentVolume'],
  [PERSISTENT_VOLUME_CLAIM as Kind, 'PersistentVolumeClaim'],
  [STORAGE_CLASS as Kind, 'StorageClass'],
  [CSI_NODE as Kind, 'CSINode'],
  [CSI_DRIVER as Kind, 'CSIDriver'],
  [CSI_STORAGE_CAPACITY as Kind, 'CSIStorageCapacity'],
];

/** Connects informers with cache and queue. Disposing the registrations ends it. */
export const registerHandlers = (
  informer: (kind: Kind) => Informer<KubernetesObject>,
  targets: EventTargets,
  options: { readonly podGroups: boolean },
): readonly HandlerRegistration[] => {
  const { cache, queue } = targets;
  const pods = new PodEvents(targets);
  const asPod = (object: KubernetesObject): Pod => object as unknown as Pod;
  const asNode = (object: KubernetesObject): Node => object as unknown as Node;
  const watchOther = ([kind, resource]: readonly [Kind, EventResource]): HandlerRegistration =>
    informer(kind).addHandler({
      added: (object) =>
        queue.moveAll({ resource, action: ACTION.add, label: `${resource}Add` }, undefined, object),
      updated: (before, after) => {
        if (before.metadata.resourceVersion !== after.metadata.resourceVersion)
          queue.moveAll({ resource, action: ACTION.updateOther, label: `${resource}Update` }, before, after);
      },
    });
  return [
    informer(NODE as Kind).addHandler({
      added(node) {
        cache.setNode(asNode(node));
        queue.moveAll(EVENT_NODE_ADD, undefined, node);
      },
      updated(before, after) {
        cache.setNode(asNode(after));
        for (const event of nodeChanges(asNode(before), asNode(after))) queue.moveAll(event, before, after);
      },
      deleted(node) {
        queue.moveAll(EVENT_NODE_DELETE, node, undefined);
        cache.removeNode(node.metadata.name);
      },
    }),
    informer(POD as Kind).addHandler({
      added: (pod) => pods.added(asPod(pod)),
      updated: (before, after) => pods.updated(asPod(before), asPod(after)),
      deleted: (pod) => pods.deleted(asPod(pod)),
    }),
    ...RESOURCE_OF.map(watchOther),
    ...(options.podGroups ? [watchOther([POD_GROUP, 'PodGroup'])] : []),
  ];
};

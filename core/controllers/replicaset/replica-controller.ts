import { messageOf } from '../../base/errors.ts';
import { controllerOf, objectKey } from '../../api/meta/object-meta.ts';
import {
  claimObjects,
  isControlledBy,
  isPodActive,
  isPodTerminal,
  POD,
  UidTrackingExpectations,
  type HandlerResult,
  type Indexers,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { nextAvailability } from '../workloads/availability.ts';
import { keyedController } from '../workloads/keyed-controller.ts';
import { ownedEvents } from '../workloads/owned-events.ts';
import { POD_INDEXERS, podsControlledBy, podsFor } from '../workloads/pod-index.ts';
import { sameStatus, writeStatus } from '../workloads/status.ts';
import { manageReplicas } from './manage-replicas.ts';
import type { ReplicaKind, ReplicaOwner } from './replica-kind.ts';
import { replicaStatus, STATUS_ZEROS } from './replica-status.ts';

const SIBLINGS_INDEX = 'replicaController';
const SIBLINGS: Indexers<ReplicaOwner> = {
  [SIBLINGS_INDEX]: (owner) => [controllerOf(owner)?.uid ?? ''],
};

/** Keeps as many pods of a template as are wanted. One code for both kinds that do so. */
export const createReplicaController = (
  context: ControllerContext,
  kind: ReplicaKind,
  workers: number,
): Controller => {
  const { client, informers, events, clock } = context;
  const owners = informers.informer(kind.kind, { indexers: SIBLINGS });
  const pods = informers.informer(POD, { indexers: POD_INDEXERS });
  const expectations = new UidTrackingExpectations(clock);
  const { queue, controller } = keyedController(context, { queueName: kind.queueName, workers, sync });

  owners.addHandler({
    added: (owner) => queue.add(objectKey(owner)),
    updated(before, after) {
      if (before.metadata.uid !== after.metadata.uid) expectations.forget(objectKey(before));
      queue.add(objectKey(after));
    },
    deleted(owner) {
      expectations.forget(objectKey(owner));
      queue.add(objectKey(owner));
    },
  });
  pods.addHandler(
    ownedEvents<ReplicaOwner, Pod>({
      ownerKind: kind.kind,
      owners: owners.store,
      selectorOf: (owner) => kind.selectorOf(owner),
      enqueue: (owner) => queue.add(objectKey(owner)),
      onCreated: (key) => expectations.creationObserved(key),
      onDeleted: (key, pod) => expectations.deletionObserved(key, objectKey(pod)),
    }),
  );

  const relatedPods = (owner: Stored<ReplicaOwner>): Stored<Pod>[] => {
    const parent = controllerOf(owner)?.uid;
    const siblings = parent === undefined ? [owner] : owners.store.byIndex(SIBLINGS_INDEX, parent);
    return siblings.flatMap((sibling) => podsControlledBy(pods.store, sibling)).filter(isPodActive);
  };

  async function sync(key: string): Promise<HandlerResult> {
    const owner = owners.store.get(key);
    if (!owner) {
      expectations.forget(key);
      return;
    }
    const mayManage = expectations.satisfied(key);
    const selector = kind.selectorOf(owner);
    const all = podsFor(pods.store, owner);
    const active = await claimObjects({
      client,
      owner,
      ownerKind: kind.kind,
      kind: POD,
      selector,
      objects: all.filter(isPodActive),
    });
    const terminating = all.filter(
      (pod) =>
        pod.metadata.deletionTimestamp &&
        !isPodTerminal(pod) &&
        isControlledBy(pod, owner) &&
        selector.matches(pod.metadata.labels),
    );
    let failure: { readonly error: unknown } | undefined;
    if (mayManage && !owner.metadata.deletionTimestamp) {
      const options = { client, events, kind, expectations, nowMs: clock.nowMs() };
      try {
        await manageReplicas({ ...options, related: () => relatedPods(owner) }, owner, active);
      } catch (error) {
        failure = { error };
      }
    }
    const nowMs = clock.nowMs();
    const status = replicaStatus(owner, {
      active,
      terminatingCount: kind.reportsTerminating ? terminating.length : undefined,
      failure: failure && messageOf(failure.error),
      nowMs,
    });
    if (!sameStatus(owner.status, status, STATUS_ZEROS)) await writeStatus(client, kind.kind, owner, status);
    if (failure) throw failure.error;
    return nextAvailability(active, owner.spec?.minReadySeconds ?? 0, nowMs);
  }

  return controller;
};

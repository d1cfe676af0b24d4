import { objectKey } from '../../api/meta/object-meta.ts';
import { selectorFromObject } from '../../api/selector/index.ts';
import {
  claimObjects,
  CONTROLLER_REVISION,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  STATEFUL_SET,
  type HandlerResult,
  type Pod,
  type StatefulSet,
  type Stored,
} from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { nextAvailability } from '../workloads/availability.ts';
import { keyedController } from '../workloads/keyed-controller.ts';
import { ownedEvents } from '../workloads/owned-events.ts';
import { POD_INDEXERS, podsFor } from '../workloads/pod-index.ts';
import {
  claimRevisions,
  ensureRevision,
  templateOf,
  truncateRevisions,
  type RevisionOwner,
} from '../workloads/revisions.ts';
import { sameStatus, writeStatus } from '../workloads/status.ts';
import { isMemberOf, revisionOf, type StoredSet } from './identity.ts';
import { setStatus, STATUS_ZEROS } from './set-status.ts';
import { updateSet } from './update-set.ts';

const HASH_LABEL = 'controller.kubernetes.io/hash';
const HISTORY_LIMIT_DEFAULT = 10;

export const createStatefulSetController = (context: ControllerContext, workers: number): Controller => {
  const { client, informers, events, clock } = context;
  const sets = informers.informer(STATEFUL_SET);
  const pods = informers.informer(POD, { indexers: POD_INDEXERS });
  const claims = informers.informer(PERSISTENT_VOLUME_CLAIM);
  const revisions = informers.informer(CONTROLLER_REVISION);
  const { queue, controller } = keyedController(context, { queueName: 'statefulset', workers, sync });

  sets.addHandler({
    added: (set) => queue.add(objectKey(set)),
    updated: (_, set) => queue.add(objectKey(set)),
    deleted: (set) => queue.add(objectKey(set)),
  });
  pods.addHandler(
    ownedEvents<StatefulSet, Pod>({
      ownerKind: STATEFUL_SET,
      owners: sets.store,
      selectorOf: (set) => selectorFromObject(set.spec?.selector),
      enqueue: (set) => queue.add(objectKey(set)),
    }),
  );

  const podsOf = (set: StoredSet): Promise<Stored<Pod>[]> =>
    claimObjects({
      client,
      owner: set,
      ownerKind: STATEFUL_SET,
      kind: POD,
      selector: selectorFromObject(set.spec?.selector),
      objects: podsFor(pods.store, set),
      matches: (pod) => isMemberOf(set, pod),
    });

  async function sync(key: string): Promise<HandlerResult> {
    const set = sets.store.get(key);
    if (!set?.spec) return;
    const { spec } = set;
    const owner: RevisionOwner = {
      client,
      kind: STATEFUL_SET,
      owner: set,
      selector: spec.selector,
      template: spec.template,
      hashLabel: HASH_LABEL,
    };
    const history = await claimRevisions(owner, revisions.store);
    const members = await podsOf(set);
    const { latest, collisionCount } = await ensureRevision(owner, history, set.status?.collisionCount ?? 0);
    const current = history.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? latest;
    const names = { current: current.metadata.name, update: latest.metadata.name, collisionCount };
    const nowMs = clock.nowMs();
    let deletedCount = 0;
    let failure: { readonly error: unknown } | undefined;
    if (!set.metadata.deletionTimestamp)
      try {
        deletedCount = await updateSet({
          client,
          events,
          claims: claims.store,
          set,
          pods: members,
          revisions: names,
          currentSpec: { ...spec, template: templateOf(current) },
          updateSpec: { ...spec, template: templateOf(latest) },
          nowMs,
        });
      } catch (error) {
        failure = { error };
      }
    const status = setStatus(set, members, { revisions: names, nowMs, deletedCount });
    if (!sameStatus(set.status, status, STATUS_ZEROS)) await writeStatus(client, STATEFUL_SET, set, status);
    if (failure) throw failure.error;
    const live = new Set([names.current, names.update, ...members.map(revisionOf)]);
    await truncateRevisions(client, history, {
      limit: spec.revisionHistoryLimit ?? HISTORY_LIMIT_DEFAULT,
      isLive: ({ metadata }) => live.has(metadata.name),
    });
    return nextAvailability(members, spec.minReadySeconds ?? 0, nowMs);
  }

  return controller;
};

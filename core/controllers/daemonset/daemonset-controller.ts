import { objectKey } from '../../api/meta/object-meta.ts';
import { selectorFromObject } from '../../api/selector/index.ts';
import {
  canonicalJson,
  claimObjects,
  CONTROLLER_REVISION,
  controllerReference,
  DAEMON_SET,
  NODE,
  POD,
  slowStart,
  UidTrackingExpectations,
  type DaemonSet,
  type HandlerResult,
  type Node,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { nextAvailability } from '../workloads/availability.ts';
import { keyedController } from '../workloads/keyed-controller.ts';
import { ownedEvents } from '../workloads/owned-events.ts';
import { createPod, deletePod, isNamespaceTerminating, podFromTemplate } from '../workloads/pod-control.ts';
import { POD_INDEXERS, podsFor } from '../workloads/pod-index.ts';
import {
  claimRevisions,
  ensureRevision,
  truncateRevisions,
  type RevisionOwner,
} from '../workloads/revisions.ts';
import { sameStatus, writeStatus } from '../workloads/status.ts';
import {
  groupByNode,
  planPlacement,
  planRollingUpdate,
  REVISION_LABEL,
  type DaemonLook,
  type DaemonPlan,
} from './daemon-plan.ts';
import { daemonStatus, STATUS_ZEROS } from './daemon-status.ts';
import { FailedPods } from './failed-pods.ts';
import { affinityTo, daemonTolerations, fitOf } from './node-fit.ts';

/** Upstream's BurstReplicas: more than this are not asked for before the first were seen. */
const PODS_BURST_MAX = 250;
const HISTORY_LIMIT_DEFAULT = 10;
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';
const GENERATION_LABEL = 'pod-template-generation';

const podFor = ({ set, hash }: DaemonLook, node: string): Pod => {
  const { template } = set.spec!;
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  const labels = {
    ...template.metadata?.labels,
    ...(generation && { [GENERATION_LABEL]: generation }),
    [REVISION_LABEL]: hash,
  };
  return podFromTemplate(
    {
      metadata: { ...template.metadata, labels },
      spec: {
        ...template.spec!,
        tolerations: daemonTolerations(template.spec),
        affinity: affinityTo(template.spec?.affinity, node),
      },
    },
    set.metadata.name,
    controllerReference(DAEMON_SET, set),
  );
};

export const createDaemonSetController = (context: ControllerContext, workers: number): Controller => {
  const { client, informers, events, clock } = context;
  const sets = informers.informer(DAEMON_SET);
  const pods = informers.informer(POD, { indexers: POD_INDEXERS });
  const nodes = informers.informer(NODE);
  const revisions = informers.informer(CONTROLLER_REVISION);
  const expectations = new UidTrackingExpectations(clock);
  const failed = new FailedPods(clock);
  const { queue, controller } = keyedController(context, { queueName: 'daemonset', workers, sync });

  sets.addHandler({
    added: (set) => queue.add(objectKey(set)),
    updated(before, set) {
      if (before.metadata.uid !== set.metadata.uid) expectations.forget(objectKey(before));
      queue.add(objectKey(set));
    },
    deleted(set) {
      expectations.forget(objectKey(set));
      queue.add(objectKey(set));
    },
  });
  pods.addHandler(
    ownedEvents<DaemonSet, Pod>({
      ownerKind: DAEMON_SET,
      owners: sets.store,
      selectorOf: (set) => selectorFromObject(set.spec?.selector),
      enqueue: (set) => queue.add(objectKey(set)),
      onCreated: (key) => expectations.creationObserved(key),
      onDeleted: (key, pod) => expectations.deletionObserved(key, objectKey(pod)),
    }),
  );
  const enqueueFor = (isMeant: (set: Stored<DaemonSet>) => boolean): void => {
    for (const set of sets.store.list()) if (isMeant(set)) queue.add(objectKey(set));
  };
  const placementOf = ({ metadata, spec }: Stored<Node>): string =>
    canonicalJson([metadata.uid, metadata.labels, spec?.taints]);
  nodes.addHandler({
    added: (node) => enqueueFor((set) => fitOf(set, node).shouldRun),
    updated(before, node) {
      // Nodes report every few seconds; almost never anything that matters here.
      if (placementOf(before) === placementOf(node)) return;
      enqueueFor((set) => canonicalJson(fitOf(set, before)) !== canonicalJson(fitOf(set, node)));
    },
    deleted: (node) => enqueueFor((set) => fitOf(set, node).shouldRun),
  });

  const podsOf = (set: Stored<DaemonSet>): Promise<Stored<Pod>[]> =>
    claimObjects({
      client,
      owner: set,
      ownerKind: DAEMON_SET,
      kind: POD,
      selector: selectorFromObject(set.spec?.selector),
      objects: podsFor(pods.store, set),
    });

  /** Carries a plan out; rejects with the first failure, all else being tried. */
  const carryOut = async (look: DaemonLook, plan: DaemonPlan): Promise<void> => {
    const { set } = look;
    const key = objectKey(set);
    const wanted = plan.nodes.slice(0, PODS_BURST_MAX);
    const surplus = plan.pods.slice(0, PODS_BURST_MAX);
    expectations.expect(key, { creations: wanted.length, deletions: surplus.map(objectKey) });
    const created = await slowStart(wanted.length, async (i) => {
      try {
        await createPod({ client, events }, set, podFor(look, wanted[i]!));
      } catch (error) {
        if (!isNamespaceTerminating(error)) throw error;
      }
    });
    for (let skipped = created.succeeded; skipped < wanted.length; skipped += 1)
      expectations.creationObserved(key);
    const results = await Promise.allSettled(
      surplus.map(async (pod) => {
        let isAnnounced = false;
        try {
          isAnnounced = await deletePod({ client, events }, set, pod);
        } finally {
          if (!isAnnounced) expectations.deletionObserved(key, objectKey(pod));
        }
      }),
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (created.error !== undefined) throw created.error;
    if (failure) throw failure.reason;
  };

  const gateFor = (set: Stored<DaemonSet>, retries: number[]) => ({
    mayReplace(node: string, pod: Stored<Pod>): boolean {
      const key = `${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${node}`;
      const waitMs = failed.untilReplacedMs(key);
      if (waitMs > 0) {
        retries.push(waitMs);
        return false;
      }
      const message = `Found failed daemon pod ${objectKey(pod)} on node ${node}, will try to kill it`;
      events.event(set, 'Warning', 'FailedDaemonPod', message);
      return true;
    },
    tellSucceeded(node: string, pod: Stored<Pod>): void {
      const message = `Found succeeded daemon pod ${objectKey(pod)} on node ${node}, will try to delete it`;
      events.event(set, 'Normal', 'SucceededDaemonPod', message);
    },
  });

  /** Places pods; when all are in place, continues with the update. */
  const manage = async (look: DaemonLook, retries: number[]): Promise<void> => {
    const { set } = look;
    const placement = planPlacement(look, gateFor(set, retries));
    await carryOut(look, placement);
    const isPlaced = placement.nodes.length + placement.pods.length === 0;
    if (isPlaced && set.spec?.updateStrategy?.type === 'RollingUpdate')
      await carryOut(look, planRollingUpdate(look));
  };

  async function sync(key: string): Promise<HandlerResult> {
    const set = sets.store.get(key);
    if (!set) return expectations.forget(key);
    if (!set.spec || set.metadata.deletionTimestamp) return;
    const { spec } = set;
    if (selectorFromObject(spec.selector).isEmpty) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      events.event(set, 'Warning', 'SelectingAll', message);
      return;
    }
    const owner: RevisionOwner = {
      client,
      kind: DAEMON_SET,
      owner: set,
      selector: spec.selector,
      template: spec.template,
      hashLabel: REVISION_LABEL,
    };
    const history = await claimRevisions(owner, revisions.store);
    const { latest, collisionCount } = await ensureRevision(owner, history, set.status?.collisionCount ?? 0);
    // Asked before pods are read: a pod that comes in between only delays.
    const mayManage = expectations.satisfied(key);
    const members = await podsOf(set);
    const look: DaemonLook = {
      set,
      nodes: nodes.store.list().sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
      podsByNode: groupByNode(members),
      hash: latest.metadata.labels?.[REVISION_LABEL] ?? latest.metadata.name,
      nowMs: clock.nowMs(),
    };
    const retries: number[] = [];
    let failure: { readonly error: unknown } | undefined;
    if (mayManage)
      try {
        await manage(look, retries);
        const live = new Set([
          look.hash,
          ...members.map(({ metadata }) => metadata.labels?.[REVISION_LABEL]),
        ]);
        await truncateRevisions(client, history, {
          limit: spec.revisionHistoryLimit ?? HISTORY_LIMIT_DEFAULT,
          isLive: ({ metadata }) => live.has(metadata.labels?.[REVISION_LABEL]),
        });
      } catch (error) {
        failure = { error };
      }
    const observedGeneration = mayManage ? set.metadata.generation : set.status?.observedGeneration;
    const status = daemonStatus(look, { observedGeneration, collisionCount });
    if (!sameStatus(set.status, status, STATUS_ZEROS)) await writeStatus(client, DAEMON_SET, set, status);
    if (failure) throw failure.error;
    const next = nextAvailability(members, spec.minReadySeconds ?? 0, look.nowMs);
    const waitsMs = [...retries, ...(next ? [next.requeueAfterMs] : [])];
    return waitsMs.length > 0 ? { requeueAfterMs: Math.min(...waitsMs) } : undefined;
  }

  return controller;
};

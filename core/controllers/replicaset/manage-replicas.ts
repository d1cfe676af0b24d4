import { objectKey } from '../../api/meta/object-meta.ts';
import {
  controllerReference,
  podsToDelete,
  slowStart,
  type Pod,
  type Stored,
  type UidTrackingExpectations,
} from '../../client/index.ts';
import {
  createPod,
  deletePod,
  isNamespaceTerminating,
  podFromTemplate,
  type PodControl,
} from '../workloads/pod-control.ts';
import type { ReplicaKind, ReplicaOwner } from './replica-kind.ts';

/** Upstream's BurstReplicas: more than this are not asked for before the first were seen. */
export const REPLICAS_BURST_MAX = 500;

export interface ManageOptions extends PodControl {
  readonly kind: ReplicaKind;
  readonly expectations: UidTrackingExpectations;
  readonly nowMs: number;
  /** Pods of the owner's siblings count as well when the fullest node gives first. */
  related(): readonly Stored<Pod>[];
}

const addReplicas = async (
  options: ManageOptions,
  owner: Stored<ReplicaOwner>,
  missing: number,
): Promise<void> => {
  const { kind, expectations } = options;
  const key = objectKey(owner);
  const count = Math.min(missing, REPLICAS_BURST_MAX);
  const reference = controllerReference(kind.kind, owner);
  expectations.expectCreations(key, count);
  const { succeeded, error } = await slowStart(count, async () => {
    const pod = podFromTemplate(owner.spec?.template, owner.metadata.name, reference);
    try {
      await createPod(options, owner, pod);
    } catch (failure) {
      if (!isNamespaceTerminating(failure)) throw failure;
    }
  });
  for (let skipped = succeeded; skipped < count; skipped += 1) expectations.creationObserved(key);
  if (error !== undefined) throw error;
};

const removeReplicas = async (
  options: ManageOptions,
  owner: Stored<ReplicaOwner>,
  active: readonly Stored<Pod>[],
  surplus: number,
): Promise<void> => {
  const { expectations, nowMs } = options;
  const key = objectKey(owner);
  const onNode = new Map<string, number>();
  for (const { spec } of options.related()) {
    const node = spec?.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const chosen = podsToDelete(active, Math.min(surplus, REPLICAS_BURST_MAX), {
    nowMs,
    relatedPodsOnNode: (pod) => onNode.get(pod.spec?.nodeName ?? '') ?? 0,
  });
  expectations.expectDeletions(key, chosen.map(objectKey));
  const results = await Promise.allSettled(
    chosen.map(async (pod) => {
      let isAnnounced = false;
      try {
        isAnnounced = await deletePod(options, owner, pod);
      } finally {
        if (!isAnnounced) expectations.deletionObserved(key, objectKey(pod));
      }
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
};

/** Makes or deletes pods towards the wanted number; rejects with the first failure, all others being tried. */
export const manageReplicas = async (
  options: ManageOptions,
  owner: Stored<ReplicaOwner>,
  active: readonly Stored<Pod>[],
): Promise<void> => {
  const surplus = active.length - (owner.spec?.replicas ?? 1);
  if (surplus < 0) await addReplicas(options, owner, -surplus);
  if (surplus > 0) await removeReplicas(options, owner, active, surplus);
};

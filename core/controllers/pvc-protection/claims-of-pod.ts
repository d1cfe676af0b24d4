import { controllerOf } from '../../api/meta/index.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../client/index.ts';

interface ClaimUse {
  readonly key: string;
  readonly isEphemeral: boolean;
}

/** The claims that the volumes of a pod name; those of ephemeral volumes have the name of pod and volume. */
const usesOf = ({ metadata, spec }: Stored<Pod>): ClaimUse[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : undefined);
    if (claim === undefined) return [];
    return [
      { key: `${metadata.namespace ?? ''}/${claim}`, isEphemeral: persistentVolumeClaim === undefined },
    ];
  });

export const claimKeysOf = (pod: Stored<Pod>): string[] => usesOf(pod).map(({ key }) => key);

/** Its kubelet is done with it, or it was deleted by force: a finalizer is all that keeps it. */
const isShutDown = ({ metadata }: Stored<Pod>): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

/**
 * A claim is in use by pods that are bound, ended or not: no kubelet starts a pod whose claim is being deleted, so
 * one that is not bound yet will not use it.
 */
export const podUsesClaim = (pod: Stored<Pod>, claim: Stored<PersistentVolumeClaim>): boolean => {
  if (!pod.spec?.nodeName) return false;
  const key = `${claim.metadata.namespace ?? ''}/${claim.metadata.name}`;
  return usesOf(pod).some(
    (use) =>
      use.key === key &&
      (!use.isEphemeral || (!isShutDown(pod) && controllerOf(claim)?.uid === pod.metadata.uid)),
  );
};

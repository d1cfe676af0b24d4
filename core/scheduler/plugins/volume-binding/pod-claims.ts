import type { ClusterLister } from '../../framework/listers.ts';
import { unresolvable, type Status } from '../../framework/status.ts';
import type { Pod } from '../../model/objects.ts';
import { ANNOTATION_BIND_COMPLETED, type PersistentVolumeClaim } from '../../model/volumes.ts';
import { VOLUME_BINDING } from '../../framework/plugin-names.ts';
import type { VolumeAssumptions } from './assumptions.ts';

export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  /** Bound once a node is chosen. */
  readonly delayed: readonly PersistentVolumeClaim[];
}

const reject = (message: string): Status => unresolvable(VOLUME_BINDING, message);

export const isFullyBound = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  Boolean(spec?.volumeName) && metadata.annotations?.[ANNOTATION_BIND_COMPLETED] !== undefined;

interface ClaimName {
  readonly name: string;
  readonly isEphemeral: boolean;
}

export const claimNames = (pod: Pod): readonly ClaimName[] =>
  (pod.spec.volumes ?? []).flatMap((volume): readonly ClaimName[] => {
    if (volume.persistentVolumeClaim)
      return [{ name: volume.persistentVolumeClaim.claimName, isEphemeral: false }];
    return volume.ephemeral ? [{ name: `${pod.metadata.name}-${volume.name}`, isEphemeral: true }] : [];
  });

/** Undefined for a pod without claims. */
export const claimsOf = (
  pod: Pod,
  assumptions: VolumeAssumptions,
  lister: ClusterLister,
): PodClaims | Status | undefined => {
  const names = claimNames(pod);
  if (names.length === 0) return undefined;
  const bound: PersistentVolumeClaim[] = [];
  const delayed: PersistentVolumeClaim[] = [];
  let hasUnboundImmediate = false;
  for (const { name, isEphemeral } of names) {
    const claim = assumptions.claim(pod.metadata.namespace ?? '', name);
    if (!claim)
      return reject(
        isEphemeral
          ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
          : `persistentvolumeclaim "${name}" not found`,
      );
    if (claim.status?.phase === 'Lost')
      return reject(
        `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`,
      );
    if (claim.metadata.deletionTimestamp !== undefined)
      return reject(`persistentvolumeclaim "${name}" is being deleted`);
    if (isEphemeral && !claim.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid))
      return reject(
        `PVC ${pod.metadata.namespace}/${name} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`,
      );
    if (isFullyBound(claim)) bound.push(claim);
    else if (
      !claim.spec?.volumeName &&
      lister.storageClass(claim.spec?.storageClassName ?? '')?.volumeBindingMode === 'WaitForFirstConsumer'
    )
      delayed.push(claim);
    else hasUnboundImmediate = true;
  }
  return hasUnboundImmediate
    ? reject('pod has unbound immediate PersistentVolumeClaims')
    : { bound, delayed };
};

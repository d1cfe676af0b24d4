import { apiVersionOf } from '../../api/meta/index.ts';
import { quantityFrom, ZERO, type Quantity } from '../../api/quantity/index.ts';
import { PERSISTENT_VOLUME_CLAIM } from '../../client/index.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass, Stored } from '../../client/index.ts';
import type { V1ObjectReference } from '../../api/schema/index.ts';

export type Claim = Stored<PersistentVolumeClaim>;
export type Volume = Stored<PersistentVolume>;

/** The claim is bound, all of it: what was bound once is never bound to anything else. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** This side was bound by the controller, so it may also unbind it. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** Set by the scheduler: where the first pod of the claim goes. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
export const STORAGE_PROVISIONER_BETA = 'volume.beta.kubernetes.io/storage-provisioner';
const CLASS_BETA = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
const DEFAULT_CLASS_BETA = 'storageclass.beta.kubernetes.io/is-default-class';

export const hasAnnotation = ({ metadata }: Claim | Volume, name: string): boolean =>
  metadata.annotations?.[name] !== undefined;

/** The class that is asked for; empty: none. */
export const classOf = ({ metadata, spec }: Claim | Volume): string =>
  metadata.annotations?.[CLASS_BETA] ?? spec?.storageClassName ?? '';

/** No one has said anything of a class, so the default one is meant once there is one. */
export const leavesClassOpen = ({ metadata, spec }: Claim): boolean =>
  metadata.annotations?.[CLASS_BETA] === undefined && spec?.storageClassName === undefined;

/** Of several that say they are, the newest. */
export const defaultClass = (classes: readonly Stored<StorageClass>[]): Stored<StorageClass> | undefined =>
  classes
    .filter(({ metadata }) =>
      [DEFAULT_CLASS, DEFAULT_CLASS_BETA].some((name) => metadata.annotations?.[name] === 'true'),
    )
    .sort((a, b) => {
      const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
      return left === right ? (a.metadata.name < b.metadata.name ? -1 : 1) : left < right ? 1 : -1;
    })[0];

export const modeOf = ({ spec }: Claim | Volume): string => spec?.volumeMode ?? 'Filesystem';

export const requestOf = ({ spec }: Claim): Quantity => {
  const asked = spec?.resources?.requests?.['storage'];
  return asked === undefined ? ZERO : quantityFrom(asked);
};

export const capacityOf = ({ spec }: Volume): Quantity => {
  const has = spec?.capacity?.['storage'];
  return has === undefined ? ZERO : quantityFrom(has);
};

export const claimReference = ({ metadata }: Claim): V1ObjectReference => ({
  apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIM),
  kind: PERSISTENT_VOLUME_CLAIM.kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
});

/** The volume is for this claim: bound to it, or set aside for one of its name. */
export const isVolumeFor = ({ spec }: Volume, { metadata }: Claim): boolean => {
  const reference = spec?.claimRef;
  if (reference?.name !== metadata.name || reference.namespace !== metadata.namespace) return false;
  return !reference.uid || reference.uid === metadata.uid;
};

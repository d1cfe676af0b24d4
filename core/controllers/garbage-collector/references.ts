import { parseApiVersion, type ObjectMeta, type OwnerReference } from '../../api/meta/index.ts';
import type { Kind } from '../../client/index.ts';

export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';

export const hasFinalizer = ({ finalizers = [] }: ObjectMeta, name: string): boolean =>
  finalizers.includes(name);

/** The owner waits, by its own wish, until what depends on it is gone. */
export const isDeletingDependents = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, FOREGROUND_FINALIZER);

export const isOrphaning = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && hasFinalizer(metadata, ORPHAN_FINALIZER);

/** Where an owner is looked for: a uid alone cannot be asked for, and a reference may name another's uid. */
export const coordinatesOf = (reference: OwnerReference, namespace: string): string =>
  [reference.apiVersion, reference.kind, namespace, reference.name, reference.uid].join('|');

export const isReferenceTo = (reference: OwnerReference, kind: Kind): boolean =>
  reference.kind === kind.kind && parseApiVersion(reference.apiVersion)?.group === kind.group;

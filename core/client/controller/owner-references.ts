import { apiVersionOf, parseApiVersion } from '../../api/meta/group-version.ts';
import {
  controllerOf,
  type KubernetesObject,
  type ObjectMeta,
  type OwnerReference,
} from '../../api/meta/object-meta.ts';
import type { Kind, Stored } from '../kind.ts';

/** The reference by which an owner controls an object. */
export const controllerReference = (kind: Kind, owner: Stored): OwnerReference => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

export const isControlledBy = (
  object: { readonly metadata?: ObjectMeta },
  owner: { readonly metadata: { readonly uid: string } },
): boolean => controllerOf(object)?.uid === owner.metadata.uid;

/** The reference is of this kind, in whatever version it was written. */
export const refersToKind = (reference: OwnerReference | undefined, kind: Kind): boolean =>
  reference !== undefined &&
  reference.kind === kind.kind &&
  parseApiVersion(reference.apiVersion)?.group === kind.group;

/**
 * The owner that controls an object, looked up in a store; undefined when it is another of the same name, or gone.
 * The name alone could match a recreated owner.
 */
export const resolveController = <T extends KubernetesObject>(
  store: { find(namespace: string | undefined, name: string): Stored<T> | undefined },
  kind: Kind<T>,
  object: { readonly metadata?: ObjectMeta },
): Stored<T> | undefined => {
  const reference = controllerOf(object);
  if (!reference || !refersToKind(reference, kind)) return undefined;
  const owner = store.find(kind.namespaced ? object.metadata?.namespace : undefined, reference.name);
  return owner?.metadata.uid === reference.uid ? owner : undefined;
};

import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { controllerOf } from '../../api/meta/object-meta.ts';
import { isInvalid, isNotFound } from '../../api/meta/status.ts';
import type { LabelSelector } from '../../api/selector/index.ts';
import type { Client, ResourceClient } from '../client.ts';
import type { Kind, Stored } from '../kind.ts';
import { controllerReference } from './owner-references.ts';

export interface ClaimOptions<T extends KubernetesObject> {
  readonly client: Client;
  readonly owner: Stored;
  readonly ownerKind: Kind;
  readonly kind: Kind<T>;
  readonly selector: LabelSelector;
  /** Objects of the owner's namespace, claimed or not. */
  readonly objects: readonly Stored<T>[];
  /** Besides the selector, for what is neither adopted nor released otherwise (a name, say). */
  matches?(object: Stored<T>): boolean;
  /** Finalizers that adopted objects get, as jobs give them to their pods. */
  readonly finalizers?: readonly string[];
}

/** The owner was deleted or recreated since the cache saw it, so it must not adopt anything. */
const mayAdopt = async ({ client, owner, ownerKind }: ClaimOptions<KubernetesObject>): Promise<boolean> => {
  const fresh = await client.resource(ownerKind, owner.metadata.namespace).find(owner.metadata.name);
  return fresh?.metadata.uid === owner.metadata.uid && fresh.metadata.deletionTimestamp === undefined;
};

/**
 * What belongs to the owner: objects it controls and that match, and matching orphans, which it adopts. Objects it
 * controls that match no longer are released. Asks the server, once, whether the owner is still there before the
 * first adoption. Rejects when a patch fails, unless the object is gone.
 */
export const claimObjects = async <T extends KubernetesObject>(
  options: ClaimOptions<T>,
): Promise<Stored<T>[]> => {
  const { client, kind, owner, selector, objects } = options;
  let adoptable: Promise<boolean> | undefined;
  const claim = async (object: Stored<T>): Promise<boolean> => {
    const controller = controllerOf(object);
    const matches = selector.matches(object.metadata.labels) && (options.matches?.(object) ?? true);
    const resource = client.resource(kind, object.metadata.namespace);
    if (controller) {
      if (controller.uid !== owner.metadata.uid) return false;
      if (matches) return true;
      if (owner.metadata.deletionTimestamp === undefined) await release(resource, object, options);
      return false;
    }
    if (!matches || owner.metadata.deletionTimestamp || object.metadata.deletionTimestamp) return false;
    adoptable ??= mayAdopt(options as unknown as ClaimOptions<KubernetesObject>);
    return (await adoptable) && adopt(resource, object, options);
  };
  const claimed: Stored<T>[] = [];
  for (const object of objects) if (await claim(object)) claimed.push(object);
  return claimed;
};

const adopt = async <T extends KubernetesObject>(
  resource: ResourceClient<T>,
  object: Stored<T>,
  { ownerKind, owner, finalizers }: ClaimOptions<T>,
): Promise<boolean> => {
  const { name, uid } = object.metadata;
  const metadata = {
    ownerReferences: [controllerReference(ownerKind, owner)],
    uid,
    ...(finalizers && { finalizers }),
  };
  try {
    await resource.patch(name, { type: 'strategic', body: { metadata } });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
};

const release = async <T extends KubernetesObject>(
  resource: ResourceClient<T>,
  object: Stored<T>,
  { owner, finalizers }: ClaimOptions<T>,
): Promise<void> => {
  const { name, uid } = object.metadata;
  const metadata = {
    ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }],
    uid,
    ...(finalizers && { '$deleteFromPrimitiveList/finalizers': finalizers }),
  };
  try {
    await resource.patch(name, { type: 'strategic', body: { metadata } });
  } catch (error) {
    // Gone, or one of the same name that is not ours: released already.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
};

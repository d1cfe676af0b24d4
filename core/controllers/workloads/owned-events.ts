import { objectKey, controllerOf, type KubernetesObject } from '../../api/meta/object-meta.ts';
import { selectorOrNothing, type LabelSelector } from '../../api/selector/index.ts';
import { canonicalJson, resolveController } from '../../client/index.ts';
import type { Handler, Kind, Store, Stored } from '../../client/index.ts';

export interface OwnedEventsOptions<O extends KubernetesObject, T extends KubernetesObject> {
  readonly ownerKind: Kind<O>;
  readonly owners: Store<O>;
  /** What the owner adopts. */
  selectorOf(owner: Stored<O>): LabelSelector;
  enqueue(owner: Stored<O>): void;
  /** An object of the owner came, and it is not on its way out. */
  onCreated?(ownerKey: string, object: Stored<T>): void;
  /** An object of the owner goes: told when its deletion begins, and again when it is over. */
  onDeleted?(ownerKey: string, object: Stored<T>): void;
  onUpdated?(owner: Stored<O>, before: Stored<T>, after: Stored<T>): void;
}

/**
 * Events of objects that have controllers, as events of these: the one that controls it, the one that did, and for an
 * orphan all that might adopt it.
 */
export const ownedEvents = <O extends KubernetesObject, T extends KubernetesObject>(
  options: OwnedEventsOptions<O, T>,
): Handler<T> => {
  const { ownerKind, owners } = options;
  const ownerOf = (object: Stored<T>): Stored<O> | undefined => resolveController(owners, ownerKind, object);

  const enqueueAdopters = (orphan: Stored<T>): void => {
    for (const owner of owners.inNamespace(orphan.metadata.namespace ?? '')) {
      const selector = selectorOrNothing(() => options.selectorOf(owner));
      if (!selector.isEmpty && selector.matches(orphan.metadata.labels)) options.enqueue(owner);
    }
  };
  const deleted = (object: Stored<T>): void => {
    const owner = ownerOf(object);
    if (!owner) return;
    options.onDeleted?.(objectKey(owner), object);
    options.enqueue(owner);
  };
  const added = (object: Stored<T>): void => {
    if (object.metadata.deletionTimestamp) return deleted(object);
    if (!controllerOf(object)) return enqueueAdopters(object);
    const owner = ownerOf(object);
    if (!owner) return;
    options.onCreated?.(objectKey(owner), object);
    options.enqueue(owner);
  };

  return {
    added,
    deleted,
    updated(before, after) {
      if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
      if (before.metadata.uid !== after.metadata.uid) {
        deleted(before);
        return added(after);
      }
      const labelsChanged = canonicalJson(before.metadata.labels) !== canonicalJson(after.metadata.labels);
      if (after.metadata.deletionTimestamp) {
        deleted(after);
        if (labelsChanged) deleted(before);
        return;
      }
      const [was, is] = [controllerOf(before), controllerOf(after)];
      const controllerChanged = was?.uid !== is?.uid;
      if (controllerChanged && was) {
        const formerOwner = ownerOf(before);
        if (formerOwner) options.enqueue(formerOwner);
      }
      if (is) {
        const owner = ownerOf(after);
        if (!owner) return;
        options.onUpdated?.(owner, before, after);
        options.enqueue(owner);
      } else if (labelsChanged || controllerChanged) enqueueAdopters(after);
    },
  };
};

import type { OwnerReference } from '../../api/meta/index.ts';
import type { LiveObjects } from './live-objects.ts';
import type { ObjectNode, OwnerGraph } from './owner-graph.ts';
import { FOREGROUND_FINALIZER, hasFinalizer, ORPHAN_FINALIZER } from './references.ts';

export interface Collection {
  readonly graph: OwnerGraph;
  readonly live: LiveObjects;
  attemptToDelete(uid: string): void;
}

/** An owner that waits for its dependents: let go when the last that blocks it is gone. */
const waitForDependents = async (
  { graph, live, attemptToDelete }: Collection,
  node: ObjectNode,
): Promise<void> => {
  const blocking = graph.blockingDependentsOf(node.uid);
  if (blocking.length === 0) return live.removeFinalizer(node, FOREGROUND_FINALIZER);
  for (const dependent of blocking) if (!dependent.isDeletingDependents) attemptToDelete(dependent.uid);
};

const classify = async (
  live: LiveObjects,
  owners: readonly OwnerReference[],
  namespace: string,
): Promise<Readonly<Record<'solid' | 'absent' | 'waiting', readonly OwnerReference[]>>> => {
  const states = {
    solid: [] as OwnerReference[],
    absent: [] as OwnerReference[],
    waiting: [] as OwnerReference[],
  };
  for (const owner of owners) states[await live.ownerState(owner, namespace)].push(owner);
  return states;
};

/** Deletes an object whose owners are all gone, or wait for it; with one that stays, the others are forgotten. */
export const collect = async (collection: Collection, uid: string): Promise<void> => {
  const { graph, live } = collection;
  const node = graph.get(uid);
  if (!node || (node.isBeingDeleted && !node.isDeletingDependents)) return;
  const object = await live.read(node);
  if (!object) return graph.forget(uid);
  if (node.isDeletingDependents) return waitForDependents(collection, node);
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0) return;
  const { solid, absent, waiting } = await classify(live, owners, node.namespace);
  if (solid.length > 0) {
    const leaving = new Set([...absent, ...waiting].map((owner) => owner.uid));
    if (leaving.size === 0) return;
    return live.changeOwners(node, (held) => held.filter((owner) => !leaving.has(owner.uid)));
  }
  const dependents = graph.dependentsOf(uid);
  if (waiting.length > 0 && dependents.length > 0) {
    // A circle of owners that wait for each other would wait forever: this one no longer blocks.
    if (dependents.some((dependent) => dependent.isDeletingDependents))
      await live.changeOwners(node, (held) =>
        held.map((owner) => (owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner)),
      );
    const fresh = await live.read(node);
    if (fresh) await live.delete(node, fresh, 'Foreground');
    return;
  }
  const policy = hasFinalizer(object.metadata, ORPHAN_FINALIZER)
    ? 'Orphan'
    : hasFinalizer(object.metadata, FOREGROUND_FINALIZER)
      ? 'Foreground'
      : 'Background';
  await live.delete(node, object, policy);
};

/** Makes everything that depends on an object independent, and then lets it go. */
export const orphan = async ({ graph, live }: Collection, uid: string): Promise<void> => {
  const node = graph.get(uid);
  if (!node) return;
  for (const dependent of graph.dependentsOf(uid))
    await live.changeOwners(dependent, (held) => held.filter((owner) => owner.uid !== uid));
  await live.removeFinalizer(node, ORPHAN_FINALIZER);
};

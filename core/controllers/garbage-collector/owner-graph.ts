import type { ObjectMeta, OwnerReference } from '../../api/meta/index.ts';
import type { Kind, Stored } from '../../client/index.ts';
import { isDeletingDependents, isOrphaning, isReferenceTo } from './references.ts';

/** An object as the graph knows it: who it is and who owns it. */
export interface ObjectNode {
  readonly kind: Kind;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly owners: readonly OwnerReference[];
  readonly isBeingDeleted: boolean;
  readonly isDeletingDependents: boolean;
}

/** What the graph asks for; both take uids. */
export interface GraphWork {
  /** Somebody may have to go, or may be done waiting. */
  attemptToDelete(uid: string): void;
  attemptToOrphan(uid: string): void;
  /** The owner is in another namespace, where no reference reaches: the object is about to go. */
  misplaced(node: ObjectNode, reference: OwnerReference): void;
}

const nodeOf = (
  kind: Kind,
  { metadata }: { metadata: ObjectMeta & { uid: string; name: string } },
): ObjectNode => ({
  kind,
  uid: metadata.uid,
  name: metadata.name,
  namespace: metadata.namespace ?? '',
  owners: metadata.ownerReferences ?? [],
  isBeingDeleted: metadata.deletionTimestamp !== undefined,
  isDeletingDependents: isDeletingDependents(metadata),
});

/**
 * Who owns whom, over all resources. Watches of different resources are not in step, so a dependent may come before its
 * owner: the edges are kept apart from the nodes, and an owner that is not here yet is "unknown", which is for the
 * server to answer. Bounded by the objects of the cluster.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, ObjectNode>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #work: GraphWork;

  constructor(work: GraphWork) {
    this.#work = work;
  }

  get(uid: string): ObjectNode | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  dependentsOf(uid: string): ObjectNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((one) => this.#nodes.get(one) ?? []);
  }

  /** Dependents that the owner must outlive when it is deleted in the foreground. */
  blockingDependentsOf(uid: string): ObjectNode[] {
    return this.dependentsOf(uid).filter(({ owners }) =>
      owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    );
  }

  /** An object was added or changed. */
  observe(kind: Kind, object: Stored): void {
    const next = nodeOf(kind, object);
    const before = this.#nodes.get(next.uid);
    this.#nodes.set(next.uid, next);
    this.#moveEdges(before, next);
    if (isOrphaning(object.metadata)) this.#work.attemptToOrphan(next.uid);
    if (next.isDeletingDependents && !before?.isDeletingDependents) {
      for (const { uid } of this.dependentsOf(next.uid)) this.#work.attemptToDelete(uid);
      this.#work.attemptToDelete(next.uid);
    }
    if (next.owners.some((owner) => this.#isDoubtful(next, owner))) this.#work.attemptToDelete(next.uid);
  }

  /** An object is gone. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#nodes.delete(uid);
    for (const owner of node.owners) {
      this.#removeEdge(owner.uid, uid);
      if (this.#nodes.get(owner.uid)?.isDeletingDependents) this.#work.attemptToDelete(owner.uid);
    }
    for (const dependent of this.dependentsOf(uid)) this.#work.attemptToDelete(dependent.uid);
  }

  /** Whether an owner is not known to be there, where the reference says it is, and to stay. */
  #isDoubtful(node: ObjectNode, reference: OwnerReference): boolean {
    const owner = this.#nodes.get(reference.uid);
    if (!owner || owner.isDeletingDependents) return true;
    const isElsewhere = owner.namespace !== '' && owner.namespace !== node.namespace;
    if (isElsewhere) this.#work.misplaced(node, reference);
    return isElsewhere || owner.name !== reference.name || !isReferenceTo(reference, owner.kind);
  }

  #moveEdges(before: ObjectNode | undefined, next: ObjectNode): void {
    for (const { uid } of next.owners) {
      const dependents = this.#dependents.get(uid) ?? new Set();
      this.#dependents.set(uid, dependents.add(next.uid));
    }
    for (const { uid, blockOwnerDeletion } of before?.owners ?? []) {
      const now = next.owners.find((owner) => owner.uid === uid);
      if (!now) this.#removeEdge(uid, next.uid);
      // The owner may have waited for this one alone.
      if (
        blockOwnerDeletion === true &&
        now?.blockOwnerDeletion !== true &&
        this.#nodes.get(uid)?.isDeletingDependents
      )
        this.#work.attemptToDelete(uid);
    }
  }

  #removeEdge(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(dependent);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }
}

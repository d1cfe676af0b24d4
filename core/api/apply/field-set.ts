import type { TypeNode } from '../patch/type-node.ts';
import { fieldOf } from '../patch/type-node.ts';
import type { Path, PathElement } from './path-element.ts';
import { compareElements, fieldName, isField } from './path-element.ts';

/**
 * A set of paths as a tree. A path may be a member without its children being, and the other way round. Sets
 * are filled by `insert` while they are made and never changed after that; operations share subtrees.
 */
export class FieldSet {
  readonly members: Set<PathElement>;
  readonly children: Map<PathElement, FieldSet>;

  constructor(members: Iterable<PathElement> = [], children: Iterable<[PathElement, FieldSet]> = []) {
    this.members = new Set(members);
    this.children = new Map(children);
  }

  static of(...paths: readonly Path[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  get isEmpty(): boolean {
    if (this.members.size > 0) return false;
    for (const child of this.children.values()) if (!child.isEmpty) return false;
    return true;
  }

  insert(path: Path): void {
    const [first, ...rest] = path;
    if (first === undefined) return;
    if (rest.length === 0) this.members.add(first);
    else this.descend(first).insert(rest);
  }

  /** The subtree below an element, made if there is none yet. */
  descend(element: PathElement): FieldSet {
    let child = this.children.get(element);
    if (child === undefined) {
      child = new FieldSet();
      this.children.set(element, child);
    }
    return child;
  }

  has(path: Path): boolean {
    const [first, ...rest] = path;
    if (first === undefined) return false;
    return rest.length === 0 ? this.members.has(first) : (this.children.get(first)?.has(rest) ?? false);
  }

  union(other: FieldSet): FieldSet {
    const result = new FieldSet([...this.members, ...other.members], this.children);
    for (const [element, child] of other.children) {
      const own = this.children.get(element);
      result.children.set(element, own === undefined ? child : own.union(child));
    }
    return result;
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet([...this.members].filter((element) => other.members.has(element)));
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      const common = theirs && child.intersection(theirs);
      if (common !== undefined && !common.isEmpty) result.children.set(element, common);
    }
    return result;
  }

  /** Removes exactly the other's members; what is below a removed member stays. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, false);
  }

  /** Removes the other's members with all that is below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#without(other, true);
  }

  #without(other: FieldSet, recursive: boolean): FieldSet {
    const result = new FieldSet([...this.members].filter((element) => !other.members.has(element)));
    for (const [element, child] of this.children) {
      if (recursive && other.members.has(element)) continue;
      const theirs = other.children.get(element);
      const rest = theirs === undefined ? child : child.#without(theirs, recursive);
      if (!rest.isEmpty) result.children.set(element, rest);
    }
    return result;
  }

  /** Members that have nothing below them. */
  leaves(): FieldSet {
    const result = new FieldSet([...this.members].filter((element) => !this.children.has(element)));
    for (const [element, child] of this.children) result.children.set(element, child.leaves());
    return result;
  }

  /** Owning part of a struct's field means that the field itself may be removed with its last owner. */
  ensureNamedFieldsAreMembers(type: TypeNode | undefined): FieldSet {
    const result = new FieldSet(this.members);
    for (const [element, child] of this.children) {
      const isStructField =
        isField(element) && type?.kind === 'struct' && type.field?.(fieldName(element)) !== undefined;
      if (isStructField) result.members.add(element);
      result.children.set(element, child.ensureNamedFieldsAreMembers(typeBelow(type, element)));
    }
    return result;
  }

  equals(other: FieldSet): boolean {
    if (this.members.size !== other.members.size || this.children.size !== other.children.size) return false;
    for (const element of this.members) if (!other.members.has(element)) return false;
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      if (theirs === undefined || !child.equals(theirs)) return false;
    }
    return true;
  }

  /** Every member, parents before what is below them. */
  *paths(prefix: Path = []): Generator<Path> {
    for (const element of [...this.members].sort(compareElements)) yield [...prefix, element];
    for (const [element, child] of [...this.children].sort(([a], [b]) => compareElements(a, b)))
      yield* child.paths([...prefix, element]);
  }
}

export const typeBelow = (type: TypeNode | undefined, element: PathElement): TypeNode | undefined => {
  if (type === undefined) return undefined;
  if (isField(element)) return fieldOf(type, fieldName(element));
  return type.kind === 'list' ? type.items : undefined;
};

export const EMPTY_SET = new FieldSet();

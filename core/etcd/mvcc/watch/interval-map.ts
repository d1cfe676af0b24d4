import type { KeyString } from '../model.ts';

interface Node<V> {
  readonly start: KeyString;
  /** '' has no upper bound. */
  readonly end: KeyString;
  value: V;
  readonly priority: number;
  /** The highest end in the subtree. */
  highestEnd: KeyString;
  left: Node<V> | undefined;
  right: Node<V> | undefined;
}

const isBelow = (a: KeyString, b: KeyString): boolean => (a === '' ? false : b === '' ? true : a < b);
const laterEnd = (a: KeyString, b: KeyString): KeyString => (isBelow(a, b) ? b : a);

const compare = (
  aStart: KeyString,
  aEnd: KeyString,
  b: { readonly start: KeyString; readonly end: KeyString },
): number => {
  if (aStart !== b.start) return aStart < b.start ? -1 : 1;
  return aEnd === b.end ? 0 : isBelow(aEnd, b.end) ? -1 : 1;
};

/**
 * Values by half-open interval of keys: a treap ordered by interval in which each node knows the highest end
 * below it, so that the intervals around one key are found in O(log n + found).
 */
export class IntervalMap<V> {
  #root: Node<V> | undefined;
  #state = 0x9e3779b9;

  get(start: KeyString, end: KeyString): V | undefined {
    let node = this.#root;
    while (node !== undefined) {
      const order = compare(start, end, node);
      if (order === 0) return node.value;
      node = order < 0 ? node.left : node.right;
    }
    return undefined;
  }

  /** The interval must not be there yet. */
  add(start: KeyString, end: KeyString, value: V): void {
    const node: Node<V> = {
      start,
      end,
      value,
      priority: this.#nextPriority(),
      highestEnd: end,
      left: undefined,
      right: undefined,
    };
    this.#root = insert(this.#root, node);
  }

  remove(start: KeyString, end: KeyString): void {
    this.#root = remove(this.#root, start, end);
  }

  /** Visits the values of all intervals that hold `key`. */
  stab(key: KeyString, visit: (value: V) => void): void {
    stab(this.#root, key, visit);
  }

  /** xorshift32: balance needs no better, and the same calls build the same tree. */
  #nextPriority(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }
}

const refresh = <V>(node: Node<V>): Node<V> => {
  let highest = node.end;
  if (node.left !== undefined) highest = laterEnd(highest, node.left.highestEnd);
  if (node.right !== undefined) highest = laterEnd(highest, node.right.highestEnd);
  node.highestEnd = highest;
  return node;
};

const rotateRight = <V>(node: Node<V>, left: Node<V>): Node<V> => {
  node.left = left.right;
  left.right = refresh(node);
  return refresh(left);
};

const rotateLeft = <V>(node: Node<V>, right: Node<V>): Node<V> => {
  node.right = right.left;
  right.left = refresh(node);
  return refresh(right);
};

const insert = <V>(at: Node<V> | undefined, node: Node<V>): Node<V> => {
  if (at === undefined) return node;
  if (compare(node.start, node.end, at) < 0) {
    at.left = insert(at.left, node);
    if (at.left.priority > at.priority) return rotateRight(at, at.left);
  } else {
    at.right = insert(at.right, node);
    if (at.right.priority > at.priority) return rotateLeft(at, at.right);
  }
  return refresh(at);
};

const remove = <V>(at: Node<V> | undefined, start: KeyString, end: KeyString): Node<V> | undefined => {
  if (at === undefined) return undefined;
  const order = compare(start, end, at);
  if (order < 0) at.left = remove(at.left, start, end);
  else if (order > 0) at.right = remove(at.right, start, end);
  else return merge(at.left, at.right);
  return refresh(at);
};

/** Everything in `a` is ordered before everything in `b`. */
const merge = <V>(a: Node<V> | undefined, b: Node<V> | undefined): Node<V> | undefined => {
  if (a === undefined) return b;
  if (b === undefined) return a;
  if (a.priority > b.priority) {
    a.right = merge(a.right, b);
    return refresh(a);
  }
  b.left = merge(a, b.left);
  return refresh(b);
};

const stab = <V>(node: Node<V> | undefined, key: KeyString, visit: (value: V) => void): void => {
  if (node === undefined || !isBelow(key, node.highestEnd)) return;
  stab(node.left, key, visit);
  if (key < node.start) return;
  if (isBelow(key, node.end)) visit(node.value);
  stab(node.right, key, visit);
};

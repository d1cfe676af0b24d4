import type { Taint } from '../model/objects.ts';

const EMPTY: readonly Taint[] = [];
/** Sets beyond this are compacted; nodes of one pool share theirs. */
const TAINT_SETS_MAX = 4096;

/** Nodes with the same taints share one set, so that a pod is compared with each set once. */
export class TaintSets {
  #sets: (readonly Taint[])[] = [EMPTY];
  readonly #idOf = new Map<string, number>([['[]', 0]]);

  get count(): number {
    return this.#sets.length;
  }

  get isFull(): boolean {
    return this.#sets.length >= TAINT_SETS_MAX;
  }

  taints(id: number): readonly Taint[] {
    return this.#sets[id] ?? EMPTY;
  }

  intern(taints: readonly Taint[] | undefined): number {
    if (!taints?.length) return 0;
    const text = JSON.stringify(taints.map(({ key, value, effect }) => [key, value ?? '', effect]));
    const known = this.#idOf.get(text);
    if (known !== undefined) return known;
    const id = this.#sets.length;
    this.#sets.push(taints);
    this.#idOf.set(text, id);
    return id;
  }

  clear(): void {
    this.#sets = [EMPTY];
    this.#idOf.clear();
    this.#idOf.set('[]', 0);
  }
}

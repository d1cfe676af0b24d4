import { assert } from '../../base/assert.ts';
import type { Snapshot } from '../cache/snapshot.ts';

/** Where one plugin keeps what it worked out for the pod of a cycle. Made once, when the module loads. */
export interface StateKey<T> {
  readonly index: number;
  readonly name: string;
  readonly type?: T;
}

let keyCount = 0;

export const stateKey = <T>(name: string): StateKey<T> => {
  const key = { index: keyCount, name };
  keyCount += 1;
  return key;
};

/** What plugins know about the pod of this attempt; born with the attempt and gone with it. */
export class CycleState {
  readonly snapshot: Snapshot;
  readonly #values: unknown[] = [];
  /** Filter plugins whose PreFilter said that they have nothing to say about this pod. */
  readonly skippedFilters = new Set<string>();
  readonly skippedScores = new Set<string>();
  readonly skippedPreBinds = new Set<string>();

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  write<T>(key: StateKey<T>, value: T): void {
    this.#values[key.index] = value;
  }

  read<T>(key: StateKey<T>): T | undefined {
    return this.#values[key.index] as T | undefined;
  }

  /** For what PreFilter or PreScore of the same plugin wrote: absence is a defect. */
  mustRead<T>(key: StateKey<T>): T {
    const value = this.#values[key.index];
    assert(value !== undefined, `${key.name} wrote no state in this cycle`);
    return value as T;
  }
}

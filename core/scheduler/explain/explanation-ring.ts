import { assert } from '../../base/assert.ts';
import type { Explanation } from './explanation.ts';

/** Attempts remembered; the oldest goes. */
export const EXPLANATIONS_MAX = 256;

/** The last attempts, newest first when read. */
export class ExplanationRing {
  readonly #capacity: number;
  readonly #kept: Explanation[] = [];
  #next = 0;

  constructor(capacity = EXPLANATIONS_MAX) {
    assert(capacity > 0, 'a ring of explanations holds at least one');
    this.#capacity = capacity;
  }

  add(explanation: Explanation): void {
    this.#kept[this.#next] = explanation;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  list(
    filter: { readonly namespace?: string; readonly name?: string; readonly uid?: string } = {},
  ): readonly Explanation[] {
    const { length } = this.#kept;
    const newest: Explanation[] = [];
    for (let back = 1; back <= length; back += 1)
      newest.push(this.#kept[(this.#next - back + 2 * this.#capacity) % this.#capacity]!);
    return newest.filter(
      ({ pod }) =>
        (filter.namespace === undefined || pod.namespace === filter.namespace) &&
        (filter.name === undefined || pod.name === filter.name) &&
        (filter.uid === undefined || pod.uid === filter.uid),
    );
  }
}

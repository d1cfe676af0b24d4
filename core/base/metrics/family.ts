import { assert } from '../assert.ts';

export const LABEL_SETS_MAX = 1000;
/** Every label of the one set that takes what a full family has no room for. */
export const OVERFLOW_LABEL = 'other';

/** Cannot occur in valid UTF-8 label text that we make; keeps ['a', 'bc'] apart from ['ab', 'c']. */
const SEPARATOR = '\u0000';

/** One metric for each set of label values. */
export class Family<Instrument, Labels extends readonly string[]> {
  readonly labelNames: Labels;
  readonly #make: () => Instrument;
  readonly #setsMax: number;
  readonly #children = new Map<
    string,
    { readonly values: readonly string[]; readonly instrument: Instrument }
  >();

  constructor(labelNames: Labels, make: () => Instrument, setsMax: number) {
    this.labelNames = labelNames;
    this.#make = make;
    this.#setsMax = setsMax;
  }

  /** The instrument for these values, in the order of the names. Keep it: looking it up allocates. */
  labels(...values: { [K in keyof Labels]: string }): Instrument {
    return this.#child(values);
  }

  /** Forgets a set, say of a peer that is gone. A handle that is still held counts into nothing. */
  remove(...values: { [K in keyof Labels]: string }): void {
    this.#children.delete(values.join(SEPARATOR));
  }

  /** Forgets every set: for gauges that are recomputed before each exposition. */
  clear(): void {
    this.#children.clear();
  }

  get children(): Iterable<{ readonly values: readonly string[]; readonly instrument: Instrument }> {
    return this.#children.values();
  }

  #child(values: readonly string[]): Instrument {
    assert(values.length === this.labelNames.length, 'a label set has one value for each name');
    const key = values.join(SEPARATOR);
    const known = this.#children.get(key);
    if (known !== undefined) return known.instrument;
    const overflow = this.labelNames.map(() => OVERFLOW_LABEL);
    if (this.#children.size >= this.#setsMax && key !== overflow.join(SEPARATOR))
      return this.#child(overflow);
    const instrument = this.#make();
    this.#children.set(key, { values, instrument });
    return instrument;
  }
}

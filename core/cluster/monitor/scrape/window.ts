import { addBuckets, bucketsBetween, quantileOf } from './quantile.ts';
import type { Buckets, Reading } from './reading.ts';

/** The longest look back of a figure: leader changes within five minutes, and the reading before them. */
export const WINDOW_MS = 330_000;
const READINGS_MAX = 128;

export interface Increase {
  readonly amount: number;
  readonly seconds: number;
}

/** The newest readings of one target, from which rates and quantiles over any span are made. */
export class Window {
  readonly #readings: Reading[] = [];

  add(reading: Reading): void {
    this.#readings.push(reading);
    const oldestMs = reading.atMs - WINDOW_MS;
    while (this.#readings.length > READINGS_MAX || this.#readings[0]!.atMs < oldestMs) this.#readings.shift();
  }

  get newest(): Reading | undefined {
    return this.#readings.at(-1);
  }

  get previousAtMs(): number | undefined {
    return this.#readings.at(-2)?.atMs;
  }

  latest(key: string): number | undefined {
    return this.newest?.numbers.get(key);
  }

  mean(key: string, sinceMs: number): number | undefined {
    const values = this.#readings
      .filter(({ atMs }) => atMs > sinceMs)
      .map(({ numbers }) => numbers.get(key))
      .filter((value) => value !== undefined);
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
  }

  /** Of a counter since a moment; undefined while there is no reading before it to compare with. */
  increase(key: string, sinceMs: number, atStart = 0): Increase | undefined {
    const span = this.#since(sinceMs);
    if (span.length < 2) return undefined;
    let amount = 0;
    for (let at = 1; at < span.length; at += 1) {
      // A label set that no one had counted yet is at zero.
      const before = span[at - 1]!.numbers.get(key) ?? 0;
      const after = span[at]!.numbers.get(key) ?? 0;
      const isNew = after < before || before < atStart;
      amount += Math.max(0, after - (isNew ? atStart : before));
    }
    return { amount, seconds: (span.at(-1)!.atMs - span[0]!.atMs) / 1000 };
  }

  /** What a histogram has observed since a moment. */
  observed(key: string, sinceMs: number): Buckets | undefined {
    const span = this.#since(sinceMs);
    let total: Buckets | undefined;
    for (let at = 1; at < span.length; at += 1) {
      const after = span[at]!.histograms.get(key);
      if (after) total = addBuckets(total, bucketsBetween(span[at - 1]!.histograms.get(key), after));
    }
    return total;
  }

  quantile(key: string, quantile: number, sinceMs: number): number | undefined {
    const buckets = this.observed(key, sinceMs);
    return buckets && quantileOf(buckets, quantile);
  }

  /** Keys of the newest reading that begin with a measure. */
  keysOf(measure: string): readonly string[] {
    const { newest } = this;
    if (!newest) return [];
    const isOf = (key: string): boolean => key === measure || key.startsWith(`${measure}|`);
    return [...newest.numbers.keys(), ...newest.histograms.keys()].filter(isOf);
  }

  /** The readings after the moment, and the one before them. */
  #since(sinceMs: number): readonly Reading[] {
    const first = this.#readings.findIndex(({ atMs }) => atMs > sinceMs);
    return first < 0 ? [] : this.#readings.slice(Math.max(0, first - 1));
  }
}

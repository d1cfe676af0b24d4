import { assert } from '../assert.ts';

/** Only grows. */
export class Counter {
  #value = 0;

  inc(by = 1): void {
    assert(by >= 0, 'a counter only grows');
    this.#value += by;
  }

  get value(): number {
    return this.#value;
  }
}

export class Gauge {
  #value = 0;

  set(value: number): void {
    this.#value = value;
  }

  add(by: number): void {
    this.#value += by;
  }

  get value(): number {
    return this.#value;
  }
}

/** Counts observations into fixed buckets. Observing allocates nothing. */
export class Histogram {
  /** Upper bounds, rising, without the last one (+Inf). */
  readonly bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    const finite = bounds.at(-1) === Infinity ? bounds.slice(0, -1) : bounds;
    finite.forEach((bound, i) =>
      assert(i === 0 || bound > finite[i - 1]!, 'bucket bounds of a histogram must rise'),
    );
    this.bounds = finite;
    this.#counts = new Float64Array(finite.length + 1);
  }

  observe(value: number): void {
    // A bound is inclusive: `le` means less or equal.
    let low = 0;
    let high = this.bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= this.bounds[middle]!) high = middle;
      else low = middle + 1;
    }
    this.#counts[low]! += 1;
    this.#sum += value;
    this.#count += 1;
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  /** Observations at or below each bound; the total is `count`. */
  cumulativeCounts(): number[] {
    let total = 0;
    return this.bounds.map((_, i) => (total += this.#counts[i]!));
  }
}

/** What client libraries use for request durations in seconds. */
export const DEFAULT_BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Multiplied up one by one, not raised to a power: the bounds then print exactly as upstream's do. */
export const exponentialBuckets = (start: number, factor: number, count: number): number[] => {
  assert(start > 0 && factor > 1 && count > 0, 'exponential buckets need start > 0, factor > 1 and a count');
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
};

export const linearBuckets = (start: number, width: number, count: number): number[] => {
  assert(width > 0 && count > 0, 'linear buckets need a width and a count');
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound += width) bounds.push(bound);
  return bounds;
};

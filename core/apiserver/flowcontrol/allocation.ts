export interface AllocationItem {
  readonly lowerBound: number;
  readonly upperBound: number;
  readonly target: number;
}

export interface Allocation {
  readonly seats: readonly number[];
  /** What every target is multiplied with, as far as the bounds let it. */
  readonly fairFraction: number;
}

const TARGET_MIN = 0.001;
const HALVINGS = 60;

/**
 * Shares out `sum` seats in proportion to the targets, each within its bounds. The fraction is found by halving, since
 * the sum of the bounded shares grows with it. Undefined where the bounds leave no solution.
 */
export const allocateSeats = (sum: number, items: readonly AllocationItem[]): Allocation | undefined => {
  const targets = items.map(({ target }) => Math.max(target, TARGET_MIN));
  const lowSum = items.reduce((total, { lowerBound }) => total + lowerBound, 0);
  const highSum = items.reduce((total, { upperBound }) => total + upperBound, 0);
  if (lowSum > sum || highSum < sum) return undefined;
  const sharesAt = (fraction: number): number[] =>
    items.map(({ lowerBound, upperBound }, at) =>
      Math.max(lowerBound, Math.min(upperBound, fraction * targets[at]!)),
    );
  let [low, high] = [0, Math.max(...items.map(({ upperBound }, at) => upperBound / targets[at]!), 0)];
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    const total = sharesAt(middle).reduce((all, share) => all + share, 0);
    if (total < sum) low = middle;
    else high = middle;
  }
  return { seats: sharesAt(high), fairFraction: high };
};

/** Follows how many seats a level asks for, and what that was like over a period. */
export class SeatDemand {
  #value = 0;
  #sinceMs: number;
  #startedMs: number;
  #integral = 0;
  #integralOfSquares = 0;
  #highest = 0;
  smoothed = 0;
  average = 0;
  deviation = 0;
  highWatermark = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.#startedMs = nowMs;
  }

  set(value: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#value = value;
    this.#highest = Math.max(this.#highest, value);
  }

  /** Ends the period. Demand that rises counts immediately, and is forgotten over minutes. */
  endPeriod(nowMs: number): void {
    this.#advance(nowMs);
    const elapsedMs = nowMs - this.#startedMs;
    this.average = elapsedMs > 0 ? this.#integral / elapsedMs : this.#value;
    const meanSquare = elapsedMs > 0 ? this.#integralOfSquares / elapsedMs : this.#value ** 2;
    this.deviation = Math.sqrt(Math.max(0, meanSquare - this.average ** 2));
    this.highWatermark = this.#highest;
    const envelope = Math.min(this.highWatermark, this.average + this.deviation);
    this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
    this.#startedMs = nowMs;
    this.#integral = 0;
    this.#integralOfSquares = 0;
    this.#highest = this.#value;
  }

  #advance(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    this.#integral += this.#value * elapsedMs;
    this.#integralOfSquares += this.#value ** 2 * elapsedMs;
    this.#sinceMs = nowMs;
  }
}

/** Upstream's: half of a demand that is gone is forgotten after five minutes of periods of ten seconds. */
const SMOOTHING = 0.977;

import type { Value } from '../values/value.ts';

/** Thrown when an evaluation has cost more than it may; nothing in an expression can catch it. */
export class CostLimitExceeded extends Error {
  override readonly name = 'CostLimitExceeded';
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Reads a variable that the environment declares; undefined if the host gave none. */
export type Resolve = (name: string) => Value | undefined;

/** The state of one evaluation. */
export class Frame {
  cost = 0;
  /** Variables of comprehensions, each at a place of its own. */
  readonly locals: (Value | undefined)[];

  readonly resolve: Resolve;
  readonly limit: number;

  constructor(resolve: Resolve, limit: number, localCount: number) {
    this.resolve = resolve;
    this.limit = limit;
    this.locals = localCount === 0 ? NO_LOCALS : new Array<Value | undefined>(localCount).fill(undefined);
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostLimitExceeded();
  }
}

const NO_LOCALS: (Value | undefined)[] = [];

/** A part of a program: everything about the expression was decided when the step was made. */
export type Step = (frame: Frame) => Value;

/**
 * Steps that upstream's costs do not count, such as the elements of nested lists that are compared or copied. A hostile
 * expression could otherwise make a cheap call work on millions of elements, thousands of times. Evaluations are
 * synchronous, so one counter serves all of them.
 */
let remaining = Number.POSITIVE_INFINITY;

/** Thrown when an evaluation has done more work than any honest one. */
export class WorkLimitExceeded extends Error {
  override readonly name = 'WorkLimitExceeded';
}

export const spendWork = (steps: number): void => {
  remaining -= steps;
  if (remaining < 0) throw new WorkLimitExceeded('operation cancelled: work limit exceeded');
};

/** Runs with a budget of its own; evaluations that are started within it have theirs. */
export const withWorkLimit = <T>(steps: number, run: () => T): T => {
  const outer = remaining;
  remaining = steps;
  try {
    return run();
  } finally {
    remaining = outer;
  }
};

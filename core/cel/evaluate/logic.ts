import { CelError, NO_SUCH_OVERLOAD, type Value } from '../values/value.ts';
import type { Step } from './frame.ts';

/** A failure on one side counts only if the other side does not decide. */
export const orStep = (terms: readonly Step[]): Step => {
  const [left, right] = terms as [Step, Step];
  return (frame) => {
    const a = left(frame);
    if (a === true) return true;
    const b = right(frame);
    if (b === true) return true;
    if (a === false && b === false) return false;
    return firstFailure(a, b);
  };
};

export const andStep = (terms: readonly Step[]): Step => {
  const [left, right] = terms as [Step, Step];
  return (frame) => {
    const a = left(frame);
    if (a === false) return false;
    const b = right(frame);
    if (b === false) return false;
    if (a === true && b === true) return true;
    return firstFailure(a, b);
  };
};

const firstFailure = (a: Value, b: Value): Value => {
  const failed = typeof a === 'boolean' ? b : a;
  return failed instanceof CelError ? failed : NO_SUCH_OVERLOAD;
};

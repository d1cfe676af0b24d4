import { type CallCost, type CostedCall, runtimeCost } from '../cost/runtime.ts';
import type { Implementation, Overload } from '../values/overload.ts';
import { CelError, type Value, error, typeOf } from '../values/value.ts';
import type { Frame, Step } from './frame.ts';
import { guardOf, signatureGuard } from './guards.ts';

/** Implementations by function, for calls whose overload is known only from the values. */
export interface Functions {
  readonly overloads: ReadonlyMap<string, readonly Overload[]>;
  readonly dispatch: ReadonlyMap<string, Implementation>;
}

const noSuchOverload = (fn: string, args: readonly Value[]): CelError =>
  error(`no such overload: ${fn}(${args.map((value) => typeOf(value).name).join(', ')})`);

const guarded = (overload: Overload, implementation: Implementation): Implementation => {
  const { fn, parameters } = overload;
  const guards = parameters.map(guardOf);
  if (guards.length === 1) {
    const [first] = guards as [(value: Value) => boolean];
    return (a) => (first(a!) ? implementation(a!) : noSuchOverload(fn, [a!]));
  }
  if (guards.length === 2) {
    const [first, second] = guards as [(value: Value) => boolean, (value: Value) => boolean];
    return (a, b) => (first(a!) && second(b!) ? implementation(a!, b!) : noSuchOverload(fn, [a!, b!]));
  }
  const fits = signatureGuard(overload);
  return (...args) => (fits(args) ? implementation(...args) : noSuchOverload(fn, args));
};

const dispatching = (fn: string, overloads: readonly Overload[]): Implementation => {
  const candidates = overloads
    .filter(({ implementation }) => implementation !== undefined)
    .map((overload) => ({ fits: signatureGuard(overload), implementation: overload.implementation! }));
  return (...args) => {
    for (const { fits, implementation } of candidates) if (fits(args)) return implementation(...args);
    return noSuchOverload(fn, args);
  };
};

/** What runs for a call: its only overload, or the first one that fits the values. */
const implementationOf = (
  fn: string,
  admitted: readonly Overload[],
  functions: Functions,
): Implementation => {
  const single = admitted.length === 1 ? admitted[0] : undefined;
  if (single?.implementation !== undefined) return guarded(single, single.implementation);
  return functions.dispatch.get(fn) ?? dispatching(fn, functions.overloads.get(fn) ?? []);
};

/**
 * A cost that the arguments decide is charged before the call runs, so that a call that is too expensive does not run.
 * The sum is the same as upstream's, which charges afterwards.
 */
const isKnownBefore = (cost: CallCost): boolean => typeof cost === 'number' || cost.length < 2;

const charge = (frame: Frame, cost: CallCost, args: readonly Value[], result: Value): void =>
  frame.charge(typeof cost === 'number' ? cost : cost(args, result));

const unaryStep = (
  argument: Step,
  implementation: Implementation,
  cost: CallCost,
  isStrict: boolean,
): Step => {
  const isFixed = typeof cost === 'number';
  const isBefore = isKnownBefore(cost);
  return (frame) => {
    const value = argument(frame);
    if (isFixed) frame.charge(cost);
    else if (isBefore) charge(frame, cost, [value], value);
    const result = isStrict && value instanceof CelError ? value : implementation(value);
    if (!isBefore) charge(frame, cost, [value], result);
    return result;
  };
};

const binaryStep = (left: Step, right: Step, implementation: Implementation, cost: CallCost): Step => {
  const isFixed = typeof cost === 'number';
  const isBefore = isKnownBefore(cost);
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (isFixed) frame.charge(cost);
    else if (isBefore) charge(frame, cost, [a, b], a);
    const result = a instanceof CelError ? a : b instanceof CelError ? b : implementation(a, b);
    if (!isBefore) charge(frame, cost, [a, b], result);
    return result;
  };
};

const variadicStep = (steps: readonly Step[], implementation: Implementation, cost: CallCost): Step => {
  const isBefore = isKnownBefore(cost);
  return (frame) => {
    const args: Value[] = [];
    for (const step of steps) {
      const value = step(frame);
      args.push(value);
      if (!(value instanceof CelError)) continue;
      // A call is charged only if all of its arguments were evaluated.
      if (args.length === steps.length) charge(frame, cost, args, value);
      return value;
    }
    if (isBefore) charge(frame, cost, args, args[0] ?? null);
    const result = implementation(...args);
    if (!isBefore) charge(frame, cost, args, result);
    return result;
  };
};

export interface PlannedCall {
  readonly fn: string;
  readonly overloads: readonly Overload[];
  readonly args: readonly Step[];
  /** Takes an error as an argument. */
  readonly isNonStrict?: boolean;
  /** Stands in for the implementation, with what is known about constant arguments. */
  readonly specialized?: Implementation;
}

/**
 * Whether a failed argument keeps the next one from being evaluated, as it does upstream where the values decide which
 * overload runs. Calls of a known overload evaluate both arguments first; costs differ by that.
 */
const stopsAtFailure = (fn: string, admitted: readonly Overload[], functions: Functions): boolean =>
  fn === 'format' ||
  (admitted.length !== 1 && !functions.dispatch.has(fn) && (functions.overloads.get(fn)?.length ?? 0) > 1);

/** A call whose arguments are evaluated first, in order. */
export const callStep = (call: PlannedCall, functions: Functions): Step => {
  const { fn, overloads, args } = call;
  const implementation = call.specialized ?? implementationOf(fn, overloads, functions);
  const costed: CostedCall = { fn, overloadId: overloads.length === 1 ? overloads[0]!.id : '' };
  const cost = runtimeCost(costed);
  const isVariadic = call.specialized !== undefined || stopsAtFailure(fn, overloads, functions);
  if (args.length === 1 && !isVariadic)
    return unaryStep(args[0]!, implementation, cost, call.isNonStrict !== true);
  if (args.length === 2 && !isVariadic) return binaryStep(args[0]!, args[1]!, implementation, cost);
  return variadicStep(args, implementation, cost);
};

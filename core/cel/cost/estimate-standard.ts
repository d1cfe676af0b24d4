import { COST } from './constants.ts';
import type { CallEstimate } from './nodes.ts';
import { ONE, type Range, addRanges, multiplyRanges, scaleRange } from './ranges.ts';

/** What the language's own estimates go by. */
export interface StandardCall {
  readonly overloadId: string;
  readonly targetSize: Range | undefined;
  readonly sizes: readonly Range[];
  /** What the arguments cost, for operators that do not evaluate all of them. */
  readonly costs: readonly Range[];
}

type Estimate = (call: StandardCall) => CallEstimate | undefined;

const traversal = (size: Range): Range => scaleRange(size, COST.stringTraversal);

const withArguments = (cost: Range, { costs }: StandardCall, size?: Range): CallEstimate => ({
  cost: addRanges(cost, ...costs),
  ...(size === undefined ? {} : { size }),
});

const convert =
  (resultSize: (size: Range) => Range): Estimate =>
  (call) => {
    const [size] = call.sizes;
    return call.sizes.length === 1 && size !== undefined
      ? withArguments(traversal(size), call, resultSize(size))
      : undefined;
  };

/** Go multiplies and adds these without a check for the end of the range. */
const wrapped = (value: bigint): bigint => BigInt.asUintN(64, value);

const prefix: Estimate = (call) =>
  call.sizes.length === 1 ? withArguments(traversal(call.sizes[0]!), call) : undefined;

const compareSizes: Estimate = (call) => {
  const [left, right] = call.sizes as [Range, Range];
  const max = left.max < right.max ? left.max : right.max;
  return withArguments(traversal({ min: max > 0n ? 1n : 0n, max }), call);
};

const matches: Estimate = (call) => {
  if (call.targetSize === undefined || call.sizes.length !== 1) return undefined;
  const text = traversal(addRanges(call.targetSize, ONE));
  return withArguments(multiplyRanges(text, scaleRange(call.sizes[0]!, COST.regexLength)), call);
};

const contains: Estimate = (call) =>
  call.targetSize === undefined || call.sizes.length !== 1
    ? undefined
    : withArguments(multiplyRanges(traversal(call.targetSize), traversal(call.sizes[0]!)), call);

const logic: Estimate = ({ costs: [left, right] }) => ({
  cost: { min: left!.min, max: addRanges(left!, right!).max },
});

const ESTIMATES: Readonly<Record<string, Estimate>> = {
  string_format: (call) =>
    call.targetSize === undefined ? undefined : withArguments(traversal(call.targetSize), call),
  string_to_bytes: convert((size) => ({ min: size.min, max: wrapped(size.max * 4n) })),
  bytes_to_string: convert((size) => ({ min: size.min / 4n, max: size.max })),
  strings_quote: convert((size) => ({ min: wrapped(size.min + 2n), max: wrapped(size.max * 2n + 2n) })),
  starts_with_string: prefix,
  ends_with_string: prefix,
  in_list: (call) =>
    call.sizes.length === 2 ? withArguments(scaleRange(call.sizes[1]!, 1), call) : undefined,
  matches_string: matches,
  contains_string: contains,
  logical_or: logic,
  logical_and: logic,
};
const COMPARED = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/;

/** The language's own estimates; a call that is not listed costs one. */
export const estimateStandard = (call: StandardCall): CallEstimate => {
  const known = Object.hasOwn(ESTIMATES, call.overloadId) ? ESTIMATES[call.overloadId] : undefined;
  const found = known?.(call) ?? (COMPARED.test(call.overloadId) ? compareSizes(call) : undefined);
  return found ?? withArguments(ONE, call);
};

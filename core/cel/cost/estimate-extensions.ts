import { isInt } from '../values/value.ts';
import { COST } from './constants.ts';
import type { CallContext, CallEstimate, CostNode, EstimateCall } from './nodes.ts';
import { ONE, type Range, UNLIMITED, addRanges, fixed, multiplyRanges, scaleRange } from './ranges.ts';

const allocatingList = (factor: number, size: Range): CallEstimate => ({
  cost: addRanges(scaleRange(size, factor), ONE, fixed(COST.listCreate)),
  size,
});

/** The value of an int literal, or what to assume for all else. */
const literalOr = ({ expr }: CostNode, otherwise: bigint): bigint => {
  if (expr?.kind !== 'literal' || !isInt(expr.value)) return otherwise;
  return expr.value < 0 ? 0n : BigInt(expr.value);
};

const slice: EstimateCall = ({ target, args, sizeOf }) => {
  if (target === undefined || args.length !== 2) return undefined;
  const start = literalOr(args[0]!, 0n);
  const end = literalOr(args[1]!, sizeOf(target).max);
  return allocatingList(1, fixed(BigInt.asUintN(64, end - start)));
};

const flatten: EstimateCall = ({ target, args, sizeOf }) => {
  if (target === undefined || args.length > 1) return undefined;
  const depth = args.length === 1 ? literalOr(args[0]!, UNLIMITED) : 1n;
  return allocatingList(Number(depth), sizeOf(target));
};

const squared = (node: CostNode, factor: number, { sizeOf }: CallContext): CallEstimate => {
  const size = sizeOf(node);
  return allocatingList(factor, multiplyRanges(size, size));
};

const sets =
  (factor: number): EstimateCall =>
  ({ args, sizeOf }) => {
    if (args.length !== 2) return undefined;
    const product = multiplyRanges(sizeOf(args[0]!), sizeOf(args[1]!));
    return { cost: addRanges(scaleRange(product, factor), ONE) };
  };

const ESTIMATES: Readonly<Record<string, EstimateCall>> = {
  list_slice: slice,
  list_flatten: flatten,
  list_flatten_int: flatten,
  lists_range: ({ target, args }) =>
    target !== undefined || args.length !== 1
      ? undefined
      : allocatingList(1, fixed(literalOr(args[0]!, UNLIMITED))),
  list_reverse: ({ target, sizeOf }) =>
    target === undefined ? undefined : allocatingList(1, sizeOf(target)),
  list_distinct: (call) => (call.target === undefined ? undefined : squared(call.target, 2, call)),
  list_sets_contains_list: sets(1),
  list_sets_intersects_list: sets(1),
  list_sets_equivalent_list: sets(2),
};

const SORTED = /^list_(.*)_sort$/;
const SORTED_BY = /^list_(.*)_sortByAssociatedKeys$/;
const sortFactor = (type: string): number =>
  type === 'string' || type === 'bytes' ? 2 + COST.stringTraversal : 2;

/** Extensions of the language declare their costs by overload. */
export const estimateExtension: EstimateCall = (call) => {
  const known = Object.hasOwn(ESTIMATES, call.overloadId) ? ESTIMATES[call.overloadId] : undefined;
  if (known !== undefined) return known(call);
  const sorted = SORTED.exec(call.overloadId)?.[1];
  if (sorted !== undefined && call.target !== undefined)
    return squared(call.target, sortFactor(sorted), call);
  const sortedBy = SORTED_BY.exec(call.overloadId)?.[1];
  return sortedBy !== undefined && call.target !== undefined && call.args.length === 1
    ? squared(call.args[0]!, sortFactor(sortedBy), call)
    : undefined;
};

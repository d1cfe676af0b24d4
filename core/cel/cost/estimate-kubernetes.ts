import { isInt } from '../values/value.ts';
import { isExactType } from '../types/type.ts';
import { COST } from './constants.ts';
import type { CallContext, CallEstimate, CostNode, EstimateCall } from './nodes.ts';
import { ONE, type Range, UNLIMITED, addRanges, fixed, multiplyRanges, scaleRange } from './ranges.ts';

const only = (cost: Range): CallEstimate => ({ cost });
const nominal: EstimateCall = () => only(ONE);
const ADDRESS_BYTES: Range = { min: 4n, max: 16n };

const traversal = (size: Range, times = 1): Range => scaleRange(size, times * COST.stringTraversal);

/** Elements of a list, whose bounds a schema may know by the path of the list. */
const elementOf = ({ path, type }: CostNode): CostNode | undefined => {
  const element = type.parameters[0];
  if (element === undefined) return undefined;
  return {
    path: path === undefined ? undefined : [...path, '@items'],
    type: element,
    expr: undefined,
    size: undefined,
  };
};

const listTraversal: EstimateCall = ({ target, sizeOf }) => {
  if (target === undefined) return undefined;
  const element = elementOf(target);
  if (element === undefined) return only(traversal(sizeOf(target)));
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  const perElement = isText ? addRanges(ONE, traversal(sizeOf(element))) : ONE;
  return only(multiplyRanges(sizeOf(target), perElement));
};

const byArgument: EstimateCall = ({ args, sizeOf }) =>
  args.length === 0 ? undefined : only(traversal(sizeOf(args[0]!)));

/** A string made of the argument, which is as long at most. */
const argumentToString: EstimateCall = ({ args, sizeOf }) => {
  if (args.length !== 1) return undefined;
  const size = sizeOf(args[0]!);
  return { cost: traversal(size), size };
};
const targetToString: EstimateCall = ({ target, sizeOf }) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  return { cost: traversal(size), size };
};

const ceilDivide = (a: bigint, b: bigint): bigint => {
  const quotient = Math.ceil(Number(a) / Number(b));
  return quotient >= 2 ** 64 ? UNLIMITED : BigInt(quotient);
};
const plusOne = (value: bigint): bigint => (value < UNLIMITED ? value + 1n : value);

/** The longest and the shortest string that replacing can give. */
const replaced = (text: Range, part: Range, by: Range): Range => {
  let count = { min: 0n, max: 0n };
  let kept = { min: 0n, max: 0n };
  if (part.min === 0n) {
    count = { ...count, max: plusOne(text.max) };
    kept = { ...kept, max: text.max };
  } else if (by.max <= part.min) kept = { ...kept, max: text.max };
  else count = { ...count, max: ceilDivide(text.max, part.min) };
  if (part.max === 0n) {
    count = { ...count, min: plusOne(text.min) };
    kept = { ...kept, min: text.min };
  } else if (part.max <= by.min) kept = { ...kept, min: text.min };
  else count = { ...count, min: ceilDivide(text.min, part.max) };
  return addRanges(multiplyRanges(count, by), kept);
};

const replace: EstimateCall = ({ target, args, sizeOf }) => {
  if (target === undefined || args.length < 2) return undefined;
  const text = sizeOf(target);
  return { cost: traversal(text, 2), size: replaced(text, sizeOf(args[0]!), sizeOf(args[1]!)) };
};

const split: EstimateCall = ({ target, args, sizeOf }) => {
  if (target === undefined) return undefined;
  const text = sizeOf(target);
  const limit = args[1]?.expr;
  const isLimited = limit?.kind === 'literal' && isInt(limit.value);
  const max = isLimited ? BigInt.asUintN(64, BigInt(limit.value as number)) : text.max;
  return { cost: traversal(text, 2), size: { min: 0n, max } };
};

const join: EstimateCall = ({ target, args, sizeOf }) => {
  if (target === undefined) return undefined;
  const list = sizeOf(target);
  const element = elementOf(target);
  let size = element === undefined ? fixed(0) : multiplyRanges(list, sizeOf(element));
  if (args.length > 0) {
    const separators = {
      min: list.min > 0n ? list.min - 1n : 0n,
      max: list.max > 0n ? list.max - 1n : 0n,
    };
    size = addRanges(size, multiplyRanges(sizeOf(args[0]!), separators));
  }
  return { cost: traversal(size), size };
};

const find: EstimateCall = ({ target, args, sizeOf }) => {
  if (target === undefined || args.length === 0) return undefined;
  const text = sizeOf(target);
  const cost = multiplyRanges(
    traversal(addRanges(text, ONE)),
    scaleRange(sizeOf(args[0]!), COST.regexLength),
  );
  return { cost, size: { min: 0n, max: text.max } };
};

const contains =
  (stringOverload: string, isCidr: boolean): EstimateCall =>
  ({ overloadId, args, sizeOf }) => {
    if (args.length === 0) return undefined;
    let cost = traversal(addRanges(ADDRESS_BYTES, ADDRESS_BYTES));
    if (isCidr) cost = addRanges(cost, traversal(ADDRESS_BYTES), ONE);
    return only(overloadId === stringOverload ? addRanges(cost, traversal(sizeOf(args[0]!))) : cost);
  };

const selector: EstimateCall = ({ args, sizeOf }) => {
  if (args.length !== 1) return undefined;
  const length = sizeOf(args[0]!);
  const requirements = scaleRange(length, COST.selectorRequirements);
  return only(
    addRanges(fixed(COST.listCreate), traversal(length), scaleRange(requirements, COST.selectorRequirement)),
  );
};

const UNIT_EQUALITY = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  ...['Authorizer', 'PathCheck', 'GroupCheck', 'ResourceCheck', 'Decision'].map(
    (name) => `kubernetes.authorization.${name}`,
  ),
]);

const equality: EstimateCall = ({ args: [left, right] }) => {
  if (left === undefined || right === undefined || left.type.name !== right.type.name) return undefined;
  const { name } = left.type;
  if (UNIT_EQUALITY.has(name) && isExactType(left.type, right.type)) return only(ONE);
  if (name === 'kubernetes.NamedFormat')
    return only(traversal({ min: 1n, max: BigInt(COST.formatNameLength) }));
  if (name !== 'kubernetes.URL') return undefined;
  return only(traversal({ min: 1n, max: right.size?.max ?? 1n }));
};

const entries = (names: string, estimate: EstimateCall): (readonly [string, EstimateCall])[] =>
  names.split(' ').map((name) => [name, estimate]);

const ESTIMATES: ReadonlyMap<string, EstimateCall> = new Map([
  ...entries('check', () => only(fixed(COST.authorizationCheck))),
  ...entries(
    'serviceAccount path group resource subresource namespace name allowed reason error errored',
    nominal,
  ),
  ...entries('fieldSelector labelSelector', selector),
  ...entries('isSorted sum max min indexOf lastIndexOf', listTraversal),
  ...entries('url jsonpatch.escapeKey', argumentToString),
  ...entries('lowerAscii upperAscii substring trim', targetToString),
  ...entries('replace', replace),
  ...entries('split', split),
  ...entries('join', join),
  ...entries('find findAll', find),
  ...entries('cidr isIP isCIDR quantity isQuantity semver isSemver', byArgument),
  ...entries('ip', (call) => (call.overloadId === 'cidr_ip' ? only(ONE) : byArgument(call))),
  ...entries('ip.isCanonical', ({ args, sizeOf }: CallContext) =>
    args.length === 0 ? undefined : only(traversal(sizeOf(args[0]!), 2)),
  ),
  ...entries(
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast',
    nominal,
  ),
  ...entries('containsIP', contains('cidr_contains_ip_string', false)),
  ...entries('containsCIDR', contains('cidr_contains_cidr_string', true)),
  ...entries('validate', ({ args, sizeOf }: CallContext) =>
    args.length === 0
      ? undefined
      : only(scaleRange(traversal(sizeOf(args[0]!)), COST.formatPatternLength * COST.regexLength)),
  ),
  ...entries('format.named', nominal),
  ...entries(
    'sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch',
    nominal,
  ),
  ...entries('getScheme getHostname getHost getPort getEscapedPath getQuery', nominal),
  ...entries('_==_', equality),
]);

/** Kubernetes' estimates go by the name of the function. */
export const estimateKubernetes: EstimateCall = (call) => ESTIMATES.get(call.fn)?.(call);

import { codePointCount } from '../source/text.ts';
import { CelList } from '../values/lists.ts';
import { CelMap } from '../values/maps.ts';
import { CelObject, CelOptional, type Value, isInt } from '../values/value.ts';
import { spendWork } from '../values/work.ts';
import { COST } from './constants.ts';

/** What a call costs: a number, or a function of its arguments and result. */
export type CallCost = number | ((args: readonly Value[], result: Value) => number);

export interface CostedCall {
  readonly fn: string;
  /** Empty if the values decided which overload ran. */
  readonly overloadId: string;
}

/** A host type that counts elements, such as an IP address. */
export interface Sized {
  readonly sizeForCost: number;
}
const isSized = (value: Value): value is CelObject & Sized =>
  value instanceof CelObject && 'sizeForCost' in value;

/** Host types of constant size whose equality upstream counts as one. */
export interface UnitEquality {
  readonly hasUnitEquality: true;
}
const hasUnitEquality = (value: Value): boolean => value instanceof CelObject && 'hasUnitEquality' in value;

export const sizeOf = (value: Value): number => {
  if (typeof value === 'string') return codePointCount(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  return isSized(value) ? value.sizeForCost : 1;
};

const sizeThroughOptional = (value: Value): number =>
  value instanceof CelOptional && value.value !== undefined
    ? sizeThroughOptional(value.value)
    : sizeOf(value);

/** Go rounds down here and counts bytes; for all else it rounds up and counts code points. */
const utf8Length = (text: string): number => {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  return bytes;
};

const traversalCost = (value: Value): number => {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * COST.stringTraversal);
  if (value instanceof Uint8Array) return Math.floor(value.length * COST.stringTraversal);
  if (value instanceof CelList) {
    spendWork(value.size);
    let cost = 0;
    for (let index = 0; index < value.size; index++) cost += traversalCost(value.at(index));
    return cost;
  }
  if (value instanceof CelMap) {
    spendWork(value.size);
    let cost = 0;
    for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key)!);
    return cost;
  }
  return 1;
};

const traversed = (value: Value, factor = 1): number =>
  Math.ceil(sizeOf(value) * factor * COST.stringTraversal);
const regexCost = (text: number, pattern: number): number =>
  Math.ceil((1 + text) * COST.stringTraversal) * Math.ceil(pattern * COST.regexLength);

const byFirst: CallCost = ([first]) => traversed(first!);
const byFirstTwice: CallCost = ([first]) => traversed(first!, 2);
const byTraversal: CallCost = ([first]) => traversalCost(first!);
const byRegex: CallCost = ([text, pattern]) => regexCost(sizeOf(text!), sizeOf(pattern!));
const bySelector: CallCost = ([, selector]) => {
  const length = sizeOf(selector!);
  const requirements = Math.ceil(length * COST.selectorRequirements);
  return (
    COST.listCreate +
    Math.ceil(length * COST.stringTraversal) +
    Math.ceil(requirements * COST.selectorRequirement)
  );
};

const smaller = (a: Value, b: Value): number =>
  Math.ceil(Math.min(sizeThroughOptional(a), sizeThroughOptional(b)) * COST.stringTraversal);
const bySmaller: CallCost = ([a, b]) => smaller(a!, b!);
const equality: CallCost = ([a, b]) => (hasUnitEquality(a!) ? 1 : smaller(a!, b!));

const listCall = (factor: number, size: number): number => Math.floor(size * factor) + 1 + COST.listCreate;
const byResultList: CallCost = (_args, result) => listCall(1, sizeOf(result));
const byRange: CallCost = ([count]) => listCall(1, isInt(count!) ? Math.max(0, Number(count)) : 1);
const byFlatten: CallCost = ([list, depth]) =>
  listCall(depth === undefined || !isInt(depth) ? 1 : Number(depth), sizeOf(list!));
const selfCompare = (list: Value): number => {
  if (!(list instanceof CelList) || list.size === 0) return listCall(2, 0);
  const first = list.at(0);
  const isText = typeof first === 'string' || first instanceof Uint8Array;
  return listCall(isText ? 2 + COST.stringTraversal : 2, list.size * list.size);
};
const bySets =
  (factor: number): CallCost =>
  ([a, b]) =>
    1 + Math.floor(sizeOf(a!) * sizeOf(b!) * factor);

const containsCidr =
  (fromString: boolean, isCidr: boolean): CallCost =>
  ([cidr, other]) => {
    const size = sizeOf(cidr!);
    let cost = Math.ceil(2 * size * COST.stringTraversal);
    if (isCidr) cost += Math.ceil(size * COST.stringTraversal) + 1;
    return fromString ? cost + traversed(other!) : cost;
  };

/** A named format, which knows the length of its pattern. */
export interface PatternSized {
  readonly patternLength: number;
}
const byFormat: CallCost = ([format, text]) =>
  format instanceof CelObject && 'patternLength' in format
    ? regexCost(sizeOf(text!), (format as unknown as PatternSized).patternLength)
    : 1;

/** Costs of extensions, which are known by their overloads. */
const EXTENSION_COSTS: Readonly<Record<string, CallCost>> = {
  list_slice: byResultList,
  list_flatten: byFlatten,
  list_flatten_int: byFlatten,
  lists_range: byRange,
  list_reverse: byResultList,
  list_distinct: ([list]) => selfCompare(list!),
  list_sets_contains_list: bySets(1),
  list_sets_intersects_list: bySets(1),
  list_sets_equivalent_list: bySets(2),
};
const isSort = (id: string): boolean => id.startsWith('list_') && id.endsWith('_sort');
const isSortBy = (id: string): boolean => id.startsWith('list_') && id.endsWith('_sortByAssociatedKeys');

const entries = (names: string, cost: CallCost): (readonly [string, CallCost])[] =>
  names.split(' ').map((name) => [name, cost]);

/** Kubernetes' costs, which go by the name of the function. */
const KUBERNETES_COSTS: ReadonlyMap<string, CallCost> = new Map([
  ...entries('check', COST.authorizationCheck),
  ...entries('serviceAccount path group resource subresource namespace name allowed reason error errored', 1),
  ...entries('fieldSelector labelSelector', bySelector),
  ...entries('isSorted sum max min indexOf lastIndexOf', byTraversal),
  ...entries('url lowerAscii upperAscii substring trim jsonpatch.escapeKey', byFirst),
  ...entries('replace split', byFirstTwice),
  ...entries('join', (_args: readonly Value[], result: Value) => traversed(result, 2)),
  ...entries('find findAll', byRegex),
  ...entries('cidr isIP isCIDR quantity isQuantity semver isSemver', byFirst),
  ...entries('ip.isCanonical', byFirstTwice),
  ...entries(
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast',
    1,
  ),
  ...entries('validate', byFormat),
  ...entries('format.named', 1),
  ...entries(
    'sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch',
    1,
  ),
  ...entries('getScheme getHostname getHost getPort getEscapedPath getQuery', 1),
  ...entries('_==_', equality),
]);

/** The language's own costs, which go by overload. */
const STANDARD_COSTS: ReadonlyMap<string, CallCost> = new Map([
  ...entries(
    'starts_with_string ends_with_string string_to_bytes bytes_to_string strings_quote string_format',
    byFirst,
  ),
  ...entries('in_list', (args: readonly Value[]) => sizeOf(args[1]!)),
  ...entries(
    'less_string greater_string less_equals_string greater_equals_string less_bytes greater_bytes less_equals_bytes greater_equals_bytes equals not_equals',
    bySmaller,
  ),
  ...entries('add_string add_bytes', ([a, b]: readonly Value[]) =>
    Math.ceil((sizeOf(a!) + sizeOf(b!)) * COST.stringTraversal),
  ),
  ...entries('matches_string', byRegex),
  ...entries('contains_string', ([text, part]: readonly Value[]) => traversed(text!) * traversed(part!)),
]);

/** What a call costs when it runs, as upstream's tracker counts it. */
export const runtimeCost = ({ fn, overloadId }: CostedCall): CallCost => {
  const extension = EXTENSION_COSTS[overloadId];
  if (extension !== undefined) return extension;
  if (isSort(overloadId)) return ([list]) => selfCompare(list!);
  if (isSortBy(overloadId)) return ([, keys]) => selfCompare(keys!);
  if (fn === 'ip') return overloadId === 'cidr_ip' ? 1 : byFirst;
  if (fn === 'containsIP') return containsCidr(overloadId === 'cidr_contains_ip_string', false);
  if (fn === 'containsCIDR') return containsCidr(overloadId === 'cidr_contains_cidr_string', true);
  return KUBERNETES_COSTS.get(fn) ?? STANDARD_COSTS.get(overloadId) ?? 1;
};

import { doesNotApply, malformed } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import { getOwn, goValue, isList, isObject } from './json.ts';

/** The order of merged lists, and the checks that lists in a strategic merge patch must pass. */

export const PATCH_DIRECTIVE = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const SET_ELEMENT_ORDER = '$setElementOrder';
export const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList';

export const noMergeKey = (item: JsonObject, mergeKey: string): Error =>
  malformed(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`);

/** Items of one list are all maps, or all scalars of one type. Undefined for lists without any item. */
export function itemKind(...lists: readonly (readonly Json[])[]): 'map' | 'scalar' | undefined {
  let first: string | undefined;
  for (const item of lists.flat() as readonly Json[]) {
    if (isList(item)) throw malformed('lists of lists are not supported');
    const kind = isObject(item) ? 'map' : typeof item;
    first ??= kind;
    if (kind !== first) throw malformed(`list element types are not identical: ${goValue(lists)}`);
  }
  if (first === undefined) return undefined;
  return first === 'map' ? 'map' : 'scalar';
}

/** What an item is found by: the value of its merge key, or itself. */
export function identityOf(item: Json, mergeKey: string): Json {
  if (mergeKey === '') return item;
  if (!isObject(item)) throw doesNotApply(`value for key ${goValue(item)} is not a map`);
  const value = getOwn(item, mergeKey);
  if (value === undefined) throw noMergeKey(item, mergeKey);
  return value;
}

const positionsOf = (order: readonly Json[], mergeKey: string): Map<Json, number> => {
  const positions = new Map<Json, number>();
  order.forEach((item, i) => {
    const identity = identityOf(item, mergeKey);
    if (!positions.has(identity)) positions.set(identity, i);
  });
  return positions;
};

const sortBy = (items: readonly Json[], positions: Map<Json, number>, mergeKey: string): Json[] => {
  const at = (item: Json): number => positions.get(identityOf(item, mergeKey)) ?? -1;
  return [...items].sort((a, b) => at(a) - at(b));
};

/**
 * Items the patch speaks of stand in the patch's order, the others in the server's, and the two are
 * interleaved as the server had them wherever it had both.
 */
export function orderItems(
  merged: readonly Json[],
  options: {
    readonly patchOrder: readonly Json[];
    readonly serverOrder: readonly Json[];
    readonly mergeKey: string;
  },
): Json[] {
  const { mergeKey } = options;
  const patchPositions = positionsOf(options.patchOrder, mergeKey);
  const serverPositions = positionsOf(options.serverOrder, mergeKey);
  const inPatch = (item: Json): boolean => patchPositions.has(identityOf(item, mergeKey));
  const left = sortBy(
    merged.filter((item) => !inPatch(item)),
    serverPositions,
    mergeKey,
  );
  const right = sortBy(merged.filter(inPatch), patchPositions, mergeKey);
  const result: Json[] = [];
  let next = 0;
  for (const item of right) {
    const place = serverPositions.get(identityOf(item, mergeKey));
    for (; place !== undefined && next < left.length; next += 1) {
      const candidate = left[next];
      if (candidate === undefined) break;
      const candidatePlace = serverPositions.get(identityOf(candidate, mergeKey));
      if (candidatePlace === undefined || candidatePlace >= place) break;
      result.push(candidate);
    }
    result.push(item);
  }
  result.push(...left.slice(next));
  return result;
}

const hasDirective = (item: Json): boolean => isObject(item) && Object.hasOwn(item, PATCH_DIRECTIVE);

/** The items of a patch must stand in its $setElementOrder list, in the same order. */
export function checkElementOrder(items: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (items.length === 0 || order.length === 0) return;
  const identities = order.map((item) => identityOf(item, mergeKey));
  let from = 0;
  for (const item of items) {
    if (hasDirective(item)) continue;
    const found = identities.indexOf(identityOf(item, mergeKey), from);
    if (found < 0)
      throw malformed(
        `The order in patch list:\n${goValue(items)}\n doesn't match ${SET_ELEMENT_ORDER} list:\n${goValue(order)}\n`,
      );
    from = found + 1;
  }
}

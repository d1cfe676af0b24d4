import { jsonText } from '../meta/json-text.ts';
import { quantityFrom } from '../quantity/quantity.ts';
import type { Quantity } from '../quantity/quantity.ts';
import { ReasonError } from '../../base/errors.ts';

/**
 * Reads of wire objects. Types were checked when the object was decoded, so a value of another type is read as
 * absent here; validation asks what is wrong with the values, not with their types.
 */
export type Obj = Readonly<Record<string, unknown>>;

export const isObj = (value: unknown): value is Obj =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NOTHING: Obj = {};

/** The object in a field, empty if there is none. */
export const obj = (of: Obj, key: string): Obj => {
  const value = of[key];
  return isObj(value) ? value : NOTHING;
};

export const maybeObj = (of: Obj, key: string): Obj | undefined => {
  const value = of[key];
  return isObj(value) ? value : undefined;
};

export const objs = (of: Obj, key: string): readonly Obj[] => {
  const value = of[key];
  return Array.isArray(value) ? value.map((item: unknown) => (isObj(item) ? item : NOTHING)) : [];
};

export const str = (of: Obj, key: string): string => {
  const value = of[key];
  return typeof value === 'string' ? value : '';
};

export const strs = (of: Obj, key: string): readonly string[] => {
  const value = of[key];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
};

export const num = (of: Obj, key: string): number | undefined => {
  const value = of[key];
  // Bounds are far below what a bigint holds, so a rounded one is judged alike.
  return typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? value : undefined;
};

export const int = (of: Obj, key: string): number => num(of, key) ?? 0;

export const isTrue = (of: Obj, key: string): boolean => of[key] === true;

export const has = (of: Obj, key: string): boolean => of[key] !== undefined && of[key] !== null;

export const strMap = (of: Obj, key: string): Readonly<Record<string, string>> => {
  const value = of[key];
  if (!isObj(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};

/** Undefined for what is no quantity. */
export const quantity = (value: unknown): Quantity | undefined => {
  try {
    return quantityFrom(value);
  } catch (error) {
    if (error instanceof ReasonError) return undefined;
    throw error;
  }
};

export const quantities = (of: Obj, key: string): readonly (readonly [string, Quantity])[] =>
  Object.entries(obj(of, key)).flatMap(([name, value]) => {
    const parsed = quantity(value);
    return parsed === undefined ? [] : [[name, parsed] as const];
  });

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObj(value) && Object.keys(value).length === 0);

/** Equal in meaning: absent, null and empty are one. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b || (isEmpty(a) && isEmpty(b))) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => sameValue(item, b[i]));
  if (!isObj(a) || !isObj(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => sameValue(a[key], b[key]));
}

/** `spec.nodeName: "a" -> "b"`, one line for each value that differs. */
export function differences(before: unknown, after: unknown, path: string): string[] {
  if (sameValue(before, after)) return [];
  if (isObj(before) && isObj(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      differences(before[key], after[key], `${path}.${key}`),
    );
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, i) => differences(item, after[i], `${path}[${i}]`));
  const print = (value: unknown): string => jsonText(value) ?? 'nil';
  return [`${path}: ${print(before)} -> ${print(after)}`];
}

import type { Quantity } from '../quantity/quantity.ts';
import type { FieldError } from '../field/field-error.ts';
import { forbidden, invalid, notSupported, required } from '../field/field-error.ts';
import type { FieldPath } from '../field/field-path.ts';
import { child, index } from '../field/field-path.ts';
import type { FormatCheck } from '../field/formats.ts';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPercent,
  isPortName,
  isPortNumber,
  isQualifiedName,
} from '../field/formats.ts';
import type { Obj } from './read.ts';
import { objs, sameValue, str, strMap, strs } from './read.ts';

/** Checks that many kinds share. Each answers with what is wrong. */

export const NOT_NEGATIVE = 'must be greater than or equal to 0';
export const FIELD_IMMUTABLE = 'field is immutable';

export const format = (path: FieldPath, value: string, check: FormatCheck): FieldError[] =>
  check(value).map((message) => invalid(path, value, message));

export const label = (path: FieldPath, value: string): FieldError[] => format(path, value, isDns1123Label);
export const subdomain = (path: FieldPath, value: string): FieldError[] =>
  format(path, value, isDns1123Subdomain);
export const qualifiedName = (path: FieldPath, value: string): FieldError[] =>
  format(path, value, isQualifiedName);

export const nonnegative = (path: FieldPath, value: number | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalid(path, value, NOT_NEGATIVE)] : [];

export const positive = (path: FieldPath, value: number): FieldError[] =>
  value > 0 ? [] : [invalid(path, value, 'must be greater than zero')];

export const nonnegativeQuantity = (path: FieldPath, value: Quantity): FieldError[] =>
  value.sign < 0 ? [invalid(path, value.toString(), NOT_NEGATIVE)] : [];

export const oneOf = (path: FieldPath, value: string, supported: readonly string[]): FieldError[] => {
  if (supported.includes(value)) return [];
  return [value === '' ? required(path) : notSupported(path, value, supported)];
};

/** Unlike oneOf an empty value is not supported either, rather than missing. */
export const supportedOnly = (path: FieldPath, value: string, supported: readonly string[]): FieldError[] =>
  supported.includes(value) ? [] : [notSupported(path, value, supported)];

/** `acme.io/foo` */
export const domainPrefixedPath = (path: FieldPath, value: string): FieldError[] => {
  const slash = value.indexOf('/');
  return slash <= 0 || slash === value.length - 1
    ? [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    : subdomain(path, value.slice(0, slash));
};

export const immutable = (path: FieldPath, value: unknown, before: unknown): FieldError[] =>
  sameValue(value, before) ? [] : [invalid(path, value ?? null, FIELD_IMMUTABLE)];

export const labels = (path: FieldPath, values: Readonly<Record<string, string>>): FieldError[] =>
  Object.entries(values).flatMap(([key, value]) => [
    ...qualifiedName(path, key),
    ...format(path, value, isLabelValue),
  ]);

export const portNumber = (path: FieldPath, value: number): FieldError[] =>
  isPortNumber(value).map((message) => invalid(path, value, message));

export const portNumberOrName = (path: FieldPath, value: unknown): FieldError[] =>
  typeof value === 'string'
    ? format(path, value, isPortName)
    : portNumber(path, typeof value === 'number' ? value : 0);

export interface SelectorOptions {
  /** For objects that were stored before values were checked. */
  readonly allowsInvalidValues?: boolean;
}

/** The `selector` of a workload, and every other label selector in an object. */
export function labelSelector(
  path: FieldPath,
  selector: Obj | undefined,
  options: SelectorOptions = {},
): FieldError[] {
  if (selector === undefined) return [];
  return [
    ...labels(child(path, 'matchLabels'), strMap(selector, 'matchLabels')),
    ...objs(selector, 'matchExpressions').flatMap((expression, i) =>
      selectorRequirement(index(child(path, 'matchExpressions'), i), expression, options),
    ),
  ];
}

const IN_OPERATORS = ['In', 'NotIn'];
const EXISTS_OPERATORS = ['Exists', 'DoesNotExist'];

export function selectorRequirement(
  path: FieldPath,
  requirement: Obj,
  { allowsInvalidValues = false }: SelectorOptions = {},
): FieldError[] {
  const operator = str(requirement, 'operator');
  const values = strs(requirement, 'values');
  return [
    ...operatorErrors(path, operator, values),
    ...qualifiedName(child(path, 'key'), str(requirement, 'key')),
    ...(allowsInvalidValues
      ? []
      : values.flatMap((value, i) => format(index(child(path, 'values'), i), value, isLabelValue))),
  ];
}

export function operatorErrors(path: FieldPath, operator: string, values: readonly string[]): FieldError[] {
  const at = child(path, 'values');
  if (IN_OPERATORS.includes(operator))
    return values.length > 0 ? [] : [required(at, "must be specified when `operator` is 'In' or 'NotIn'")];
  if (EXISTS_OPERATORS.includes(operator))
    return values.length === 0
      ? []
      : [forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')];
}

export const positiveIntOrPercent = (path: FieldPath, value: unknown): FieldError[] => {
  if (typeof value === 'string') return isPercent(value).map((message) => invalid(path, value, message));
  return nonnegative(path, typeof value === 'number' ? value : 0);
};

const percentOf = (value: unknown): number | undefined =>
  typeof value === 'string' && isPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined;

export const intOrPercentValue = (value: unknown): number =>
  percentOf(value) ?? (typeof value === 'number' ? value : 0);

export const notMoreThan100Percent = (path: FieldPath, value: unknown): FieldError[] =>
  (percentOf(value) ?? 0) > 100 ? [invalid(path, value, 'must not be greater than 100%')] : [];

/** The first of equal names keeps its place; every further one is an error at the path it has. */
export const duplicates = (
  names: readonly string[],
  at: (position: number) => FieldPath,
  error: (path: FieldPath, name: string) => FieldError,
): FieldError[] => {
  const seen = new Set<string>();
  return names.flatMap((name, i) => {
    if (seen.has(name)) return [error(at(i), name)];
    seen.add(name);
    return [];
  });
};

/** `'*'` stands for all, so nothing may stand beside it. */
export const wildcardAlone = (path: FieldPath, values: readonly string[], what: string): FieldError[] =>
  values.length > 1 && values.includes('*')
    ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)]
    : [];

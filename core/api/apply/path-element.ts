import { parseJsonText } from '../meta/json-text.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Json, JsonObject } from '../patch/json.ts';
import { isObject } from '../patch/json.ts';
import { goJson, goQuote } from '../field/go-text.ts';

/**
 * One step of a path, in the spelling of FieldsV1: `f:name` a field or map key, `k:{"name":"a"}` an item of an
 * associative list, `v:"x"` an item of a set, `i:0` an index. The spelling is canonical, so that equal steps
 * are equal strings.
 */
export type PathElement = string;
export type Path = readonly PathElement[];

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const valueElement = (value: Json): PathElement => `v:${goJson(value)}`;

export const keyElement = (keys: JsonObject): PathElement => {
  const sorted = Object.keys(keys)
    .sort()
    .map((name) => `${goJson(name)}:${goJson(keys[name])}`);
  return `k:{${sorted.join(',')}}`;
};

export const isField = (element: PathElement): boolean => element.startsWith('f:');
export const fieldName = (element: PathElement): string => element.slice(2);

const malformed = (message: string): ReasonError<'FieldsMalformed'> =>
  new ReasonError('FieldsMalformed', message);

const parseJson = (text: string): Json => {
  try {
    return parseJsonText(text) as Json;
  } catch (error) {
    throw new ReasonError('FieldsMalformed', `parsing key as path element: ${text}`, { cause: error });
  }
};

/** Undefined for a kind of step that this version does not know, which is skipped, as upstream does. */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw malformed('key must be 2 characters long:');
  if (text.charAt(1) !== ':') throw malformed(`missing colon: ${text}`);
  const rest = text.slice(2);
  switch (text.charAt(0)) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parseJson(rest));
    case 'k': {
      const keys = parseJson(rest);
      if (!isObject(keys)) throw malformed(`parsing key as path element: ${text}`);
      return keyElement(keys);
    }
    case 'i':
      if (!/^-?[0-9]+$/.test(rest)) throw malformed(`parsing key as path element: ${text}`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

const printValue = (value: Json | undefined): string =>
  typeof value === 'string' ? goQuote(value) : goJson(value);

/** `.spec`, `[name="a"]`, `[="x"]`, `[0]`: the form people read in a conflict. */
export function printElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const keys = parseJson(rest) as JsonObject;
      return `[${Object.keys(keys)
        .map((name) => `${name}=${printValue(keys[name])}`)
        .join(',')}]`;
    }
    case 'v':
      return `[=${printValue(parseJson(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

export const printPath = (path: Path): string => path.map(printElement).join('');

const RANK = 'fkvi';

/** Fields, then keys, then values, then indexes. */
export const compareElements = (a: PathElement, b: PathElement): number => {
  const rank = RANK.indexOf(a.charAt(0)) - RANK.indexOf(b.charAt(0));
  if (rank !== 0) return rank;
  if (a.startsWith('i:')) return Number(a.slice(2)) - Number(b.slice(2));
  return a < b ? -1 : a > b ? 1 : 0;
};

import { parseDocument } from 'yaml';
import { messageOf, ReasonError } from '../../../base/errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

const TEXT_LENGTH_MAX = 1024 * 1024;

export const bad = (path: string, problem: string): never => {
  throw new ReasonError('BadConfiguration', path === '' ? problem : `${path}: ${problem}`);
};

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** An object with no other fields than these; upstream decodes its configuration files strictly, too. */
export const fieldsOf = (value: unknown, path: string, known: readonly string[]): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad(path, 'must be an object');
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  return unknown === undefined
    ? (value as Fields)
    : bad('', `unknown field "${path === '' ? '' : `${path}.`}${unknown}"`);
};

export const listOf = (value: unknown, path: string): readonly unknown[] => {
  if (isAbsent(value)) return [];
  return Array.isArray(value) ? value : bad(path, 'must be a list');
};

/** Absent texts are empty ones. */
export const textOf = (fields: Fields, path: string, name: string): string => {
  const value = fields[name];
  if (isAbsent(value)) return '';
  return typeof value === 'string' ? value : bad(`${path}.${name}`, 'must be a string');
};

/** An optional object of texts. */
export const textsOf = <const Name extends string>(
  value: unknown,
  path: string,
  names: readonly Name[],
): Record<Name, string> => {
  const fields = isAbsent(value) ? {} : fieldsOf(value, path, names);
  return Object.fromEntries(names.map((name) => [name, textOf(fields, path, name)])) as Record<Name, string>;
};

export interface DocumentKind {
  readonly kind: string;
  readonly apiVersions: readonly string[];
  /** Besides apiVersion and kind. */
  readonly fields: readonly string[];
}

/** The fields of a configuration file of one kind. Throws `BadConfiguration`. */
export const readDocument = (text: string, { kind, apiVersions, fields }: DocumentKind): Fields => {
  if (text.length > TEXT_LENGTH_MAX) return bad('', `is longer than ${TEXT_LENGTH_MAX} characters`);
  const document = parseDocument(text);
  if (document.errors.length > 0) return bad('', `is not valid YAML: ${messageOf(document.errors[0])}`);
  const read = fieldsOf(document.toJS({ maxAliasCount: 0 }), '', ['apiVersion', 'kind', ...fields]);
  if (!apiVersions.includes(String(read['apiVersion'])) || read['kind'] !== kind)
    return bad('', `is not a ${kind} of ${apiVersions.join(' or ')}`);
  return read;
};

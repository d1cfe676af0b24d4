import { jsonText } from '../../../api/meta/json-text.ts';
import { ReasonError } from '../../../base/errors.ts';
import { parseApiVersion } from '../../../api/meta/index.ts';
import { decodeObject, structOf } from '../../../api/schema/index.ts';
import { child, index, key } from '../../../api/field/field-path.ts';
import { invalid, required, type FieldError } from '../../../api/field/field-error.ts';
import { isDns1035Label, isPathSegmentName } from '../../../api/field/formats.ts';
import { objectMeta } from '../../../api/validation/object-meta.ts';
import { isMap, setOwn, type JsonMap, type Structural } from './structural.ts';

const OBJECT_META = 'meta.v1.ObjectMeta';

export interface DecodedMeta {
  readonly metadata: JsonMap;
  readonly unknown: readonly string[];
}

const UNKNOWN = /^unknown field "(.*)"$/;

/** Metadata as its type reads it. Throws a ReasonError with Go's sentence where a value is wrong. */
export const decodeMeta = (metadata: unknown): DecodedMeta => {
  if (metadata === null) return { metadata: {}, unknown: [] };
  if (!isMap(metadata))
    throw new ReasonError(
      'WrongType',
      `json: cannot unmarshal ${goName(metadata)} into Go value of type v1.ObjectMeta`,
    );
  const { object, strictErrors } = decodeObject(structOf(OBJECT_META), metadata);
  return { metadata: object, unknown: strictErrors.map((text) => UNKNOWN.exec(text)?.[1] ?? text) };
};

const goName = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

/** Thrown where an embedded resource has metadata of a wrong type. */
const wrong = (path: string, value: unknown, why: string): ReasonError<'WrongType'> =>
  new ReasonError('WrongType', `${path}: Invalid value: ${jsonText(value)}: ${why}`);

/** Decodes the metadata of embedded resources below the root; unknown fields of theirs are removed and named. */
export const coerceEmbedded = (
  value: unknown,
  schema: Structural | undefined,
  path: string,
  unknown?: string[],
): unknown => {
  if (schema?.hasEmbedded !== true || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item, at) => coerceEmbedded(item, schema.items, `${path}[${at}]`, unknown));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  let copy: JsonMap | undefined;
  const members = value as JsonMap;
  for (const name of Object.keys(members)) {
    const at = child(path, name);
    let inside = members[name];
    if (schema.isEmbedded) {
      if ((name === 'apiVersion' || name === 'kind') && typeof inside !== 'string')
        throw wrong(at, inside, 'must be a string');
      if (name === 'metadata') {
        try {
          const decoded = decodeMeta(inside);
          unknown?.push(...decoded.unknown.map((field) => `${at}.${field}`));
          inside = decoded.metadata;
        } catch (error) {
          throw error instanceof ReasonError ? wrong(at, inside, error.message) : error;
        }
      }
    }
    const coerced = coerceEmbedded(inside, schema.member(name), at, unknown);
    if (coerced !== members[name]) setOwn((copy ??= { ...members }), name, coerced);
  }
  return copy ?? value;
};

const resourceErrors = (path: string, value: JsonMap): FieldError[] => {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind'])
    if (!Object.hasOwn(value, name)) errors.push(required(child(path, name)));
  const { apiVersion, kind } = value;
  if (apiVersion !== undefined) {
    if (typeof apiVersion !== 'string')
      errors.push(invalid(child(path, 'apiVersion'), apiVersion, 'must be a string'));
    else if (apiVersion === '')
      errors.push(invalid(child(path, 'apiVersion'), apiVersion, 'must not be empty'));
    else if (!parseApiVersion(apiVersion))
      errors.push(
        invalid(child(path, 'apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`),
      );
  }
  if (kind !== undefined) {
    const label = typeof kind === 'string' ? isDns1035Label(kind.toLowerCase()) : [];
    if (typeof kind !== 'string') errors.push(invalid(child(path, 'kind'), kind, 'must be a string'));
    else if (kind === '') errors.push(invalid(child(path, 'kind'), kind, 'must not be empty'));
    else if (label.length > 0)
      errors.push(
        invalid(
          child(path, 'kind'),
          kind,
          `may have mixed case, but should otherwise match: ${label.join(',')}`,
        ),
      );
  }
  const { metadata } = value;
  if (isMap(metadata)) {
    const named = { metadata: { ...metadata, name: metadata['name'] ?? 'fakename' } };
    const namespaced = typeof metadata['namespace'] === 'string' && metadata['namespace'] !== '';
    for (const error of objectMeta(named, { namespaced, name: isPathSegmentName }))
      errors.push({ ...error, field: child(path, error.field) });
  }
  return errors;
};

/** Embedded resources must name their kind, and their metadata must be that of an object. */
export const embeddedErrors = (
  path: string,
  value: unknown,
  schema: Structural | undefined,
): FieldError[] => {
  if (schema?.hasEmbedded !== true) return [];
  if (Array.isArray(value))
    return value.flatMap((item, at) => embeddedErrors(index(path, at), item, schema.items));
  if (!isMap(value)) return [];
  return [
    ...(schema.isEmbedded ? resourceErrors(path, value) : []),
    ...Object.keys(value).flatMap((name) => {
      const property = schema.properties.get(name);
      return property
        ? embeddedErrors(child(path, name), value[name], property)
        : embeddedErrors(key(path, name), value[name], schema.values);
    }),
  ];
};

import type { Obj } from '../read.ts';
import { isObj, maybeObj, obj, objs, str } from '../read.ts';

/** Formats of strings that values are held against, by their names without hyphens. */
export const STRING_FORMATS: ReadonlySet<string> = new Set([
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'uuid3',
  'uuid4',
  'uuid5',
  'isbn',
  'isbn10',
  'isbn13',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'password',
  'date',
  'duration',
  'datetime',
  'k8sshortname',
  'k8slongname',
]);

const NUMBER_FORMATS: Readonly<Record<string, readonly string[] | undefined>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** Far beyond any schema that people write, and well within the stack. */
const DEPTH_MAX = 100;

const isRecognized = (type: string, format: string): boolean =>
  type === '' || type === 'string'
    ? STRING_FORMATS.has(format.replaceAll('-', ''))
    : (NUMBER_FORMATS[type]?.includes(format) ?? true);

const collect = (schema: Obj, into: Set<string>, depth: number): void => {
  if (depth > DEPTH_MAX) return;
  const format = str(schema, 'format');
  if (format !== '' && !isRecognized(str(schema, 'type'), format)) into.add(format);
  const below = [
    ...Object.values(obj(schema, 'properties')),
    schema['items'],
    schema['additionalProperties'],
    ...['allOf', 'anyOf', 'oneOf'].flatMap((name) => objs(schema, name)),
    schema['not'],
  ];
  for (const inside of below) if (isObj(inside)) collect(inside, into, depth + 1);
};

/** Formats in the schemas of a definition that no value is held against. */
export const unrecognizedFormats = (definition: Obj): ReadonlySet<string> => {
  const found = new Set<string>();
  for (const version of objs(obj(definition, 'spec'), 'versions')) {
    const schema = maybeObj(obj(version, 'schema'), 'openAPIV3Schema');
    if (schema) collect(schema, found, 0);
  }
  return found;
};

import { intOf } from '../values/integers.ts';
import { parseDate, parseDuration, parseTimestamp } from '../values/time.ts';
import { CelDouble, CelDuration, CelObject, type Value, error } from '../values/value.ts';
import { decodeBase64 } from './base64.ts';
import { escapeName } from '../values/escape.ts';
import { type StructuralSchema, valuesSchema, withTypeAndObjectMeta } from './structural.ts';
import { type ListIdentity, type ReadProperty, SchemaList, SchemaMap } from './values.ts';

type Convert = (raw: unknown) => Value;

const goType = (raw: unknown): string => {
  if (raw === null) return '<nil>';
  if (Array.isArray(raw)) return '[]interface {}';
  if (typeof raw === 'object') return 'map[string]interface {}';
  if (typeof raw === 'bigint') return 'int64';
  if (typeof raw === 'number') return Number.isInteger(raw) ? 'int64' : 'float64';
  return typeof raw === 'boolean' ? 'bool' : typeof raw;
};

const NOT_NULLABLE = error('invalid data, got null for schema with nullable=false');
const NOT_INT_OR_STRING = error('invalid data, expected XIntOrString value to be either a string or integer');

const toInt = (raw: unknown): Value | undefined => {
  if (typeof raw === 'bigint') return intOf(raw);
  return typeof raw === 'number' && Number.isInteger(raw)
    ? Number.isSafeInteger(raw)
      ? raw
      : intOf(BigInt(raw))
    : undefined;
};

const integer: Convert = (raw) => toInt(raw) ?? error(`invalid data, expected int, got ${goType(raw)}`);
const number: Convert = (raw) =>
  typeof raw === 'number' || typeof raw === 'bigint'
    ? new CelDouble(Number(raw))
    : error(`invalid data, expected float, got ${goType(raw)}`);
const boolean: Convert = (raw) =>
  typeof raw === 'boolean' ? raw : error(`invalid data, expected bool, got ${goType(raw)}`);
const intOrString: Convert = (raw) => (typeof raw === 'string' ? raw : (toInt(raw) ?? NOT_INT_OR_STRING));

const UNIT_NANOS: readonly (readonly [RegExp, bigint])[] = [
  [/^(?:ns|nano.*)$/i, 1n],
  [/^(?:us|µs|micro.*)$/i, 1_000n],
  [/^(?:ms|milli.*)$/i, 1_000_000n],
  [/^(?:s|sec.*)$/i, 1_000_000_000n],
  [/^(?:m|min.*)$/i, 60_000_000_000n],
  [/^(?:h|hr.*|hour.*)$/i, 3_600_000_000_000n],
  [/^(?:d|day.*)$/i, 86_400_000_000_000n],
  [/^(?:w|week.*|wk.*)$/i, 604_800_000_000_000n],
];

/** Durations of OpenAPI: Go's, or words such as `3 days`. */
const openApiDuration = (text: string): CelDuration | undefined => {
  const found = /^\s*(\d{1,9})\s*([A-Za-zµ]+)\s*$/.exec(text);
  const unit = found === null ? undefined : UNIT_NANOS.find(([pattern]) => pattern.test(found[2]!));
  return (
    parseDuration(text) ?? (unit === undefined ? undefined : new CelDuration(BigInt(found![1]!) * unit[1]))
  );
};

const dateTime = (text: string): Value | undefined => {
  const withZone = /(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`;
  return (
    parseTimestamp(withZone) ??
    parseTimestamp(withZone.replace(/T(\d{2}:\d{2})(?=Z|[+-])/, 'T$1:00')) ??
    (text === '' ? parseTimestamp('1970-01-01T00:00:00Z') : undefined)
  );
};

const formatted =
  (what: string, parse: (text: string) => Value | undefined): Convert =>
  (raw) =>
    typeof raw === 'string'
      ? (parse(raw) ?? error(`Invalid ${what} ${raw}: cannot parse`))
      : error(`invalid data, expected string, got ${goType(raw)}`);

const STRING_FORMATS: Readonly<Record<string, Convert>> = {
  duration: formatted('duration', openApiDuration),
  date: formatted('date formatted string', parseDate),
  'date-time': formatted('date-time formatted string', dateTime),
  byte: formatted('byte formatted string', decodeBase64),
};
const string: Convert = (raw) =>
  typeof raw === 'string' ? raw : error(`invalid data, expected string, got ${goType(raw)}`);

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

const object = (written: StructuralSchema): Convert => {
  const schema =
    written['x-kubernetes-embedded-resource'] === true ? withTypeAndObjectMeta(written) : written;
  const read = propertyReader(schema);
  const isObject = schema.properties !== undefined;
  return (raw) =>
    isRecord(raw)
      ? new SchemaMap(raw, read, isObject)
      : error('invalid data, expected a map for the provided schema with type=object');
};

/** Converters are made when a property is first read: large schemas have thousands of them. */
const propertyReader = (schema: StructuralSchema): ReadProperty => {
  const made = new Map<string, Convert>();
  const { properties } = schema;
  if (properties !== undefined)
    return (name) => {
      const known = made.get(name);
      if (known !== undefined) return known;
      if (!Object.hasOwn(properties, name)) return undefined;
      const convert = converterOf(properties[name]!);
      made.set(name, convert);
      return convert;
    };
  const values = valuesSchema(schema);
  if (values === undefined) return () => undefined;
  const convert = converterOf(values);
  return () => convert;
};

const array = (schema: StructuralSchema): Convert => {
  if (schema.items === undefined)
    return () => error('invalid array type, expected Items with a non-empty Schema');
  const convert = converterOf(schema.items);
  const listType = schema['x-kubernetes-list-type'] ?? 'atomic';
  if (listType !== 'atomic' && listType !== 'set' && listType !== 'map')
    return () =>
      error(`invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got ${listType}`);
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeName(key) ?? key);
  const identity: ListIdentity = { kind: listType, keys };
  return (raw) =>
    Array.isArray(raw)
      ? new SchemaList(raw.map(convert), identity)
      : error('invalid data, expected an array for the provided schema with type=array');
};

const converterOfType = (schema: StructuralSchema): Convert => {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString;
  switch (schema.type ?? '') {
    case 'object':
      return object(schema);
    case 'array':
      return array(schema);
    case 'string':
      return (Object.hasOwn(STRING_FORMATS, schema.format ?? '') && STRING_FORMATS[schema.format!]) || string;
    case 'number':
      return number;
    case 'integer':
      return integer;
    case 'boolean':
      return boolean;
    default:
      return () =>
        error(
          `invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${schema.type ?? ''}`,
        );
  }
};

/** What turns data into values by a schema. Data that does not follow the schema becomes an error. */
export const converterOf = (schema: StructuralSchema): Convert => {
  const convert = converterOfType(schema);
  const ofNull: Value = schema.nullable === true ? null : NOT_NULLABLE;
  return (raw) => (raw === null ? ofNull : raw instanceof CelObject ? raw : convert(raw));
};

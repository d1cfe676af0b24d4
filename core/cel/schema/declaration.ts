import { REQUEST_BYTES_MAX } from '../bounds.ts';
import type { Range } from '../cost/ranges.ts';
import type { StructDeclaration } from '../values/struct-declaration.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  type Type,
  listOf,
  mapOf,
  structOf,
} from '../types/type.ts';
import { escapeName } from '../values/escape.ts';
import { type StructuralSchema, valuesSchema, withTypeAndObjectMeta } from './structural.ts';

/** The type of a part of a schema, with bounds of the data that it describes. */
export interface Declared {
  readonly type: Type;
  /** The most characters, elements or entries. */
  readonly maxElements: number;
  /** The least bytes of JSON; how often something may occur in a request follows from it. */
  readonly minBytes: number;
  readonly fields?: ReadonlyMap<string, Declared>;
  readonly key?: Declared;
  readonly element?: Declared;
}

/** Lengths of the shortest and the longest values as JSON. */
const BYTES_MIN = { string: 2, bool: 4, number: 1, duration: 3, date: 12, dateTime: 21, any: 1 } as const;
const TIME_LENGTH_MAX = 32;
const DATE_LENGTH_MAX = 12;
const STRING_LENGTH_MAX = REQUEST_BYTES_MAX - 2;
/** A character takes four bytes at most, and bounds count bytes. */
const CHARACTER_BYTES_MAX = 4;

const scalar = (type: Type, minBytes: number, maxElements = 0): Declared => ({ type, minBytes, maxElements });

const nonNegative = (value: number): number => Math.max(0, value);

const stringLength = ({ maxLength, enum: values }: StructuralSchema): number => {
  if (maxLength !== undefined) return nonNegative(maxLength) * CHARACTER_BYTES_MAX;
  if (values === undefined || values.length === 0) return STRING_LENGTH_MAX;
  const lengths = values.map((value) =>
    typeof value === 'string' ? new TextEncoder().encode(value).length : 0,
  );
  return Math.max(0, ...lengths);
};

const stringType = (schema: StructuralSchema): Declared => {
  switch (schema.format ?? '') {
    case 'byte':
      return scalar(
        BYTES,
        BYTES_MIN.string,
        schema.maxLength === undefined ? STRING_LENGTH_MAX : nonNegative(schema.maxLength),
      );
    case 'duration':
      return scalar(DURATION, BYTES_MIN.duration, TIME_LENGTH_MAX);
    case 'date':
      return scalar(TIMESTAMP, BYTES_MIN.date, DATE_LENGTH_MAX);
    case 'date-time':
      return scalar(TIMESTAMP, BYTES_MIN.dateTime, TIME_LENGTH_MAX);
    default:
      return scalar(STRING, BYTES_MIN.string, stringLength(schema));
  }
};

const arrayType = ({ items, maxItems }: StructuralSchema, name: string): Declared | undefined => {
  if (items === undefined) return undefined;
  const element = declare(items, `${name}.@idx`);
  if (element === undefined) return undefined;
  const most = Math.floor((REQUEST_BYTES_MAX - 2) / (element.minBytes + 1));
  return {
    type: listOf(element.type),
    maxElements: maxItems === undefined ? most : nonNegative(maxItems),
    minBytes: 2,
    element,
  };
};

const mapType = (schema: StructuralSchema, values: StructuralSchema, name: string): Declared | undefined => {
  const element = declare(values, `${name}.@elem`);
  if (element === undefined) return undefined;
  const most = Math.floor((REQUEST_BYTES_MAX - 2) / (element.minBytes + 6));
  return {
    type: mapOf(STRING, element.type),
    maxElements: schema.maxProperties === undefined ? most : nonNegative(schema.maxProperties),
    minBytes: 2,
    key: scalar(STRING, BYTES_MIN.string),
    element,
  };
};

const objectType = (schema: StructuralSchema, name: string): Declared => {
  const fields = new Map<string, Declared>();
  const required = new Set(schema.required);
  let minBytes = 2;
  for (const [property, propertySchema] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(property);
    const declared = declare(propertySchema, `${name}.${escaped ?? property}`);
    if (declared === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, declared);
    if (required.has(property) && propertySchema.default === undefined)
      minBytes += new TextEncoder().encode(property).length + declared.minBytes + 4;
  }
  return { type: structOf(name), maxElements: 0, minBytes, fields };
};

/** What expressions see of a schema; undefined if they see nothing of it. */
export const declare = (
  written: StructuralSchema,
  name: string,
  isResourceRoot = written['x-kubernetes-embedded-resource'] === true,
): Declared | undefined => {
  if (written['x-kubernetes-int-or-string'] === true)
    return scalar(
      DYN,
      BYTES_MIN.any,
      written.maxLength === undefined
        ? STRING_LENGTH_MAX
        : nonNegative(written.maxLength) * CHARACTER_BYTES_MAX,
    );
  const schema = isResourceRoot ? withTypeAndObjectMeta(written) : written;
  switch (schema.type ?? '') {
    case 'array':
      return arrayType(schema, name);
    case 'object': {
      const values = valuesSchema(schema);
      return values === undefined ? objectType(schema, name) : mapType(schema, values, name);
    }
    case 'string':
      return stringType(schema);
    case 'boolean':
      return scalar(BOOL, BYTES_MIN.bool);
    case 'number':
      return scalar(DOUBLE, BYTES_MIN.number);
    case 'integer':
      return scalar(INT, BYTES_MIN.number);
    default:
      return undefined;
  }
};

/** All object types within a declaration, by name. */
export const structsOf = (root: Declared): Map<string, StructDeclaration> => {
  const structs = new Map<string, StructDeclaration>();
  const visit = ({ type, fields, element }: Declared): void => {
    if (fields !== undefined) {
      structs.set(type.name, {
        type,
        field: (name) => (fields.get(name) ?? fields.get(`__${name}__`))?.type,
      });
      for (const field of fields.values()) visit(field);
    }
    if (element !== undefined) visit(element);
  };
  visit(root);
  return structs;
};

/** The size of what a path leads to. The first name is a variable, and stands for the root whatever it is. */
export const sizeAt = (root: Declared, path: readonly string[]): Range | undefined => {
  let current: Declared | undefined = root;
  for (const name of path.slice(1)) {
    if (name === '@items' || name === '@values') current = current.element;
    else if (name === '@keys') current = current.key;
    else current = current.fields?.get(name);
    if (current === undefined) return undefined;
  }
  return { min: 0n, max: BigInt(current.maxElements) };
};

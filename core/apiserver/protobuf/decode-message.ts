import { parseJsonText } from '../../api/meta/json-text.ts';
import { formatMicroTime, formatTime } from '../../api/meta/index.ts';
import { structOf, type StructType, type TypeNode } from '../../api/schema/index.ts';
import { messageOf, type NumberedField } from './message-type.ts';
import {
  BYTES,
  FIXED64,
  malformedMessage,
  VARINT,
  WireReader,
  type WireField,
} from '../../base/node/protobuf/wire-reader.ts';

/** As bodies of JSON are bounded. */
const DEPTH_MAX = 500;

type Fields = Record<string, unknown>;

const utf8 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** Names come from the body: `__proto__` must become a key like any other. */
const setOwn = (object: Fields, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
};

const expectType = ({ wireType, number }: WireField, expected: number): void => {
  if (wireType !== expected) throw malformedMessage(`wrong wireType = ${wireType} for field ${number}`);
};

/** The fields of a small message whose type is not in the schema, by number; the last of each counts. */
const fieldsOf = (bytes: Uint8Array): Map<number, WireField> => {
  const found = new Map<number, WireField>();
  for (const reader = new WireReader(bytes); !reader.isAtEnd;) {
    const field = reader.next();
    found.set(field.number, field);
  }
  return found;
};

const NANOS_PER_MS = 1e6;

/** An empty message is the zero time, which JSON does not have. */
const timeOf = (bytes: Uint8Array, format: (ms: number) => string): string | undefined => {
  if (bytes.byteLength === 0) return undefined;
  const fields = fieldsOf(bytes);
  const seconds = fields.get(1)?.integer ?? 0;
  const nanos = fields.get(2)?.integer ?? 0;
  return format(seconds * 1000 + nanos / NANOS_PER_MS);
};

const intOrStringOf = (bytes: Uint8Array): string | number => {
  const fields = fieldsOf(bytes);
  const isText = fields.get(1)?.integer === 1;
  return isText ? utf8(fields.get(3)?.bytes ?? new Uint8Array()) : (fields.get(2)?.integer ?? 0);
};

/** RawExtension, FieldsV1 and their kin hold their JSON in field 1. */
const rawJsonOf = (bytes: Uint8Array): unknown => {
  const raw = fieldsOf(bytes).get(1)?.bytes;
  if (raw === undefined || raw.byteLength === 0) return undefined;
  try {
    return parseJsonText(utf8(raw));
  } catch (error) {
    if (error instanceof SyntaxError) throw malformedMessage('an embedded object is no JSON');
    throw error;
  }
};

type Scalar = Extract<TypeNode, { node: 'scalar' }>['scalar'];

const WIRE_TYPES: Readonly<Partial<Record<Scalar, number>>> = {
  boolean: VARINT,
  int32: VARINT,
  int64: VARINT,
  double: FIXED64,
};

const scalarOf = (scalar: Scalar, field: WireField): unknown => {
  const { bytes, integer, exact } = field;
  expectType(field, WIRE_TYPES[scalar] ?? BYTES);
  switch (scalar) {
    case 'boolean':
      return integer !== 0;
    case 'int32':
      return integer;
    case 'int64':
      return exact ?? integer;
    case 'double':
      return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat64(0, true);
    case 'string':
      return utf8(bytes);
    case 'bytes':
      return base64(bytes);
    case 'time':
      return timeOf(bytes, formatTime);
    case 'microTime':
      return timeOf(bytes, formatMicroTime);
    case 'quantity':
      return utf8(fieldsOf(bytes).get(1)?.bytes ?? new Uint8Array());
    case 'intOrString':
      return intOrStringOf(bytes);
  }
};

class Decoder {
  #depth = 0;

  message(struct: StructType, bytes: Uint8Array): Fields {
    const result: Fields = {};
    this.#into(result, messageOf(struct), bytes);
    return result;
  }

  #into(result: Fields, fields: ReadonlyMap<number, NumberedField>, bytes: Uint8Array): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw malformedMessage('exceeded max depth');
    for (const reader = new WireReader(bytes); !reader.isAtEnd;) {
      const field = reader.next();
      const known = fields.get(field.number);
      if (!known) continue;
      if ('inline' in known) {
        expectType(field, BYTES);
        this.#into(result, known.inline, field.bytes);
      } else this.#field(result, known, field);
    }
    this.#depth -= 1;
  }

  #field(
    result: Fields,
    { field, isPointer }: Extract<NumberedField, { field: unknown }>,
    wire: WireField,
  ): void {
    const { name, type } = field;
    if (type.node === 'list') {
      const list = (result[name] ??= []) as unknown[];
      list.push(this.#value(type.items, wire));
    } else if (type.node === 'map') this.#entry((result[name] ??= {}) as Fields, type.values, wire);
    else {
      // A pointer to a struct without fields, such as the status of a custom resource, is there as soon as it is named.
      const isEmptyStruct = type.node === 'opaque' && isPointer && wire.bytes.byteLength === 0;
      const value = isEmptyStruct ? {} : this.#value(type, wire);
      // Go writes every value that is no pointer; its zero means that nothing was said.
      if (value !== undefined && (isPointer || !isZero(value))) result[name] = value;
    }
  }

  #entry(map: Fields, values: TypeNode, wire: WireField): void {
    expectType(wire, BYTES);
    const entry = fieldsOf(wire.bytes);
    const value = entry.get(2) ?? {
      number: 2,
      wireType: BYTES,
      integer: 0,
      exact: undefined,
      bytes: new Uint8Array(),
    };
    setOwn(map, utf8(entry.get(1)?.bytes ?? new Uint8Array()), this.#value(values, value));
  }

  #value(type: TypeNode, wire: WireField): unknown {
    if (type.node === 'scalar') return scalarOf(type.scalar, wire);
    expectType(wire, BYTES);
    switch (type.node) {
      case 'opaque':
        return type.opaque === 'any' || type.opaque === 'object'
          ? rawJsonOf(wire.bytes)
          : this.#schemaUnion(wire.bytes, type.opaque);
      case 'struct':
        return this.message(type.struct, wire.bytes);
      case 'list':
        return this.#wrappedList(type.items, wire.bytes);
      case 'map':
        throw malformedMessage('a map of maps is not a type of the API');
    }
  }

  /** The unions of JSON schemas: a schema, or schemas, texts or a flag instead of it. */
  #schemaUnion(bytes: Uint8Array, union: 'schemaOrBool' | 'schemaOrArray' | 'schemaOrStrings'): unknown {
    const struct = structOf('apiextensions.v1.JSONSchemaProps');
    const isBool = union === 'schemaOrBool';
    const list: unknown[] = [];
    let schema: unknown;
    let isAllowed = false;
    for (const reader = new WireReader(bytes); !reader.isAtEnd;) {
      const field = reader.next();
      const isSchema = field.number === (isBool ? 2 : 1);
      if (isBool && field.number === 1) {
        expectType(field, VARINT);
        isAllowed = field.integer !== 0;
      } else if (field.number <= 2) {
        expectType(field, BYTES);
        const value =
          union === 'schemaOrStrings' && !isSchema ? utf8(field.bytes) : this.message(struct, field.bytes);
        if (isSchema) schema = value;
        else list.push(value);
      }
    }
    return schema ?? (isBool ? isAllowed : list);
  }

  /** A list inside of a map (the extra values of a user) travels as a message with its items in field 1. */
  #wrappedList(items: TypeNode, bytes: Uint8Array): unknown[] {
    const list: unknown[] = [];
    for (const reader = new WireReader(bytes); !reader.isAtEnd;) {
      const field = reader.next();
      if (field.number === 1) list.push(this.#value(items, field));
    }
    return list;
  }
}

const isZero = (value: unknown): boolean => value === '' || value === 0 || value === false;

/** The message as the JSON that Go would have written of the same object. Unknown fields are left out. */
export const decodeMessage = (struct: StructType, bytes: Uint8Array): Record<string, unknown> =>
  new Decoder().message(struct, bytes);

import type { Field } from '../../proto/wire/index.ts';
import { namesOf, type AnyMessage, type NamedField } from './field-names.ts';
import type { JsonNode } from './json-reader.ts';
import { readJson } from './json-reader.ts';

/** JSON, but not of this message; in the words of Go's protojson. */
export class JsonMessageError extends Error {
  override readonly name = 'JsonMessageError';
}

type Values = Record<string, unknown>;

/** What the message's encoder takes. Unknown fields are left out, as etcd does. Throws JsonSyntaxError, JsonMessageError. */
export const messageFromJson = (message: AnyMessage, text: string): Values => {
  const node = readJson(text);
  return new MessageReader(text).message(message, node);
};

class MessageReader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  message(message: AnyMessage, node: JsonNode): Values {
    if (node.kind !== 'object') throw this.#unexpectedToken(node);
    const { byName } = namesOf(message);
    const values: Values = {};
    const seen = new Set<string>();
    for (const { key: name, at, value } of node.entries) {
      const named = byName.get(name);
      if (named === undefined) continue;
      if (seen.has(named.key)) throw this.#error(at, `duplicate field ${JSON.stringify(name)}`);
      seen.add(named.key);
      if (value.kind === 'null') continue;
      const { oneof } = named.field;
      if (oneof !== undefined) {
        if (seen.has(`oneof ${oneof}`))
          throw this.#error(
            at,
            `error parsing ${JSON.stringify(name)}, oneof ${message.name}.${snake(oneof)} is already set`,
          );
        seen.add(`oneof ${oneof}`);
      }
      values[named.key] = this.#field(named, value);
    }
    return values;
  }

  #field(named: NamedField, node: JsonNode): unknown {
    if (named.field.label !== 'repeated') return this.#single(named, node);
    if (node.kind !== 'array') throw this.#unexpectedToken(node);
    return node.items.map((item) => this.#single(named, item));
  }

  #single(named: NamedField, node: JsonNode): unknown {
    const { field } = named;
    if (field.type === 'message') return this.message(field.message!(), node);
    const value = scalarFromJson(field, node);
    if (value !== undefined) return value;
    throw this.#error(node.at, `invalid value for ${kindOf(field)} field ${named.key}: ${node.raw}`);
  }

  #unexpectedToken({ at, raw }: JsonNode): JsonMessageError {
    return new JsonMessageError(`proto: syntax error ${this.#place(at)}: unexpected token ${raw}`);
  }

  #error(at: number, text: string): JsonMessageError {
    return new JsonMessageError(`proto: ${this.#place(at)}: ${text}`);
  }

  #place(at: number): string {
    const lines = this.#text.slice(0, at).split('\n');
    return `(line ${lines.length}:${[...lines.at(-1)!].length + 1})`;
  }
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const kindOf = ({ type, values }: Field): string =>
  values !== undefined ? 'enum' : type.replace('Number', '');

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const LIMITS = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  int64Number: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64Number: [0n, 2n ** 64n - 1n],
} as const;
type IntegerType = keyof typeof LIMITS;

/** Undefined where the value does not fit the field. */
const scalarFromJson = (field: Field, node: JsonNode): unknown => {
  const { type, values } = field;
  if (type === 'bool') return node.kind === 'bool' ? node.value : undefined;
  if (type === 'string') return node.kind === 'string' ? node.value : undefined;
  if (type === 'bytes') return node.kind === 'string' ? fromBase64(node.value) : undefined;
  if (values !== undefined && node.kind === 'string')
    return Object.hasOwn(values, node.value) ? values[node.value] : undefined;
  return integerFromJson(type as IntegerType, node);
};

const fromBase64 = (text: string): Buffer | undefined => {
  const digits = text.replace(/=+$/, '');
  const isPadded = digits.length < text.length;
  // One digit more than whole groups is less than a byte, and padding fills its group or is not there.
  if (!BASE64.test(text) || digits.length % 4 === 1 || (isPadded && text.length % 4 !== 0)) return undefined;
  return Buffer.from(digits, 'base64');
};

const integerFromJson = (type: IntegerType, node: JsonNode): number | bigint | undefined => {
  const text = node.kind === 'number' ? node.raw : node.kind === 'string' ? node.value : '';
  const integer = integerOf(text);
  const [min, max] = LIMITS[type];
  if (integer === undefined || integer < min || integer > max) return undefined;
  return type === 'int64' || type === 'uint64' ? integer : held(integer);
};

/** Above 2^53-1 no revision, size or version is; the codec holds such fields there too. */
const held = (integer: bigint): number => {
  const number = Number(integer);
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number));
};

const integerOf = (text: string): bigint | undefined => {
  if (INTEGER.test(text)) return text.length <= INTEGER_DIGITS_MAX ? BigInt(text) : undefined;
  if (!NUMBER.test(text)) return undefined;
  // `1e3` and `2.0` are integers too, where a double is exact.
  const number = Number(text);
  return Number.isSafeInteger(number) ? BigInt(number) : undefined;
};
const INTEGER_DIGITS_MAX = 20;

/** As protojson writes it with the names of the .proto: defaults left out, 64-bit numbers as text, bytes as base64. */
export const messageToJson = (message: AnyMessage, value: unknown): string => {
  const parts: string[] = [];
  for (const { key, protoName, field } of namesOf(message).all) {
    const item = (value as Values)[key];
    if (isLeftOut(field, item)) continue;
    const json =
      field.label === 'repeated'
        ? `[${(item as readonly unknown[]).map((one) => scalarToJson(field, one)).join(',')}]`
        : scalarToJson(field, item);
    parts.push(`"${protoName}":${json}`);
  }
  return `{${parts.join(',')}}`;
};

const isLeftOut = ({ label, type }: Field, value: unknown): boolean => {
  if (value === undefined) return true;
  if (label === 'repeated') return (value as readonly unknown[]).length === 0;
  if (label === 'optional' || type === 'message') return false;
  if (type === 'bytes' || type === 'string') return (value as string | Uint8Array).length === 0;
  return value === 0 || value === 0n || value === false;
};

const scalarToJson = (field: Field, value: unknown): string => {
  switch (field.type) {
    case 'message':
      return messageToJson(field.message!(), value);
    case 'bytes': {
      const bytes = value as Uint8Array;
      return `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}"`;
    }
    case 'string':
    case 'bool':
      return JSON.stringify(value);
    case 'int32':
      return enumToJson(field, value as number);
    case 'uint32':
      return String(value);
    case 'int64':
    case 'uint64':
    case 'int64Number':
    case 'uint64Number':
      return `"${String(value)}"`;
  }
};

const enumToJson = ({ values }: Field, value: number): string => {
  const name = values && Object.keys(values).find((key) => values[key] === value);
  return name === undefined ? String(value) : `"${name}"`;
};

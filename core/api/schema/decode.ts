import { ReasonError, messageOf } from '../../base/errors.ts';
import { goQuote } from '../field/go-text.ts';
import { isJsonObject } from '../meta/object-meta.ts';
import { formatMicroTime, formatTime, microTimeParseError, parseTime, timeParseError } from '../meta/time.ts';
import { quantityFrom } from '../quantity/index.ts';
import { converterSentence } from './converter-words.ts';
import { fieldTypeName, goFieldPath, structName, valueName } from './go-names.ts';
import { structOf } from './models.ts';
import type { ListNode, MapNode, OpaqueNode, ScalarNode, StructType, TypeNode } from './types.ts';

const BASE64_DIGIT = /[A-Za-z0-9+/]/;

/** Where Go's decoder stops reading; undefined where the text is base64. An incomplete group is told by its start. */
const base64Fault = (text: string): number | undefined => {
  for (let start = 0; start < text.length; start += 4)
    for (let at = start; at < start + 4; at += 1) {
      const digit = text[at];
      if (digit === undefined) return start;
      if (BASE64_DIGIT.test(digit)) continue;
      if (digit !== '=' || at < start + 2) return at;
      if (at === start + 2) {
        if (text[at + 1] === undefined) return text.length;
        if (text[at + 1] !== '=') return at + 1;
      }
      return text.length > start + 4 ? start + 4 : undefined;
    }
  return undefined;
};

/** As upstream: what is unknown beyond this is not listed. */
const STRICT_ERRORS_MAX = 100;
/** Only the schemas of custom resources nest without end; this is far beyond any, and well within the stack. */
const DEPTH_MAX = 500;

export interface Decoded {
  readonly object: Record<string, unknown>;
  /** `unknown field "spec.foo"`, in the order they stand in the body. */
  readonly strictErrors: readonly string[];
}

export type DecodeFailure = 'WrongType' | 'Malformed';

/** Whose words a failure is told in: those of Go's JSON decoder, or of upstream's converter from plain maps. */
export type DecodeWords = 'json' | 'converter';

/** Optional scalars of a type that Go holds by value: a zero is the same as nothing, and is not kept. */
export type FindValueFields = (struct: StructType) => ReadonlySet<string>;

const NO_FIELDS: ReadonlySet<string> = new Set();
const noValueFields: FindValueFields = () => NO_FIELDS;

const isZero = (value: unknown): boolean => value === '' || value === 0 || value === false;

/** Where the decoder is: the path for strict errors, and the one without indexes that Go's errors have. */
interface Place {
  readonly path: string;
  readonly goPath: string;
  readonly owner: StructType;
}

class Decoder {
  readonly strictErrors: string[] = [];
  readonly #words: DecodeWords;
  readonly #valueFields: FindValueFields;
  readonly #root: StructType;
  #failure: ReasonError<DecodeFailure> | undefined;
  #depth = 0;

  constructor(root: StructType, words: DecodeWords, valueFields: FindValueFields) {
    this.#root = root;
    this.#words = words;
    this.#valueFields = valueFields;
  }

  /** The first wrong value is the one reported, as Go's decoder continues to the end and returns the first. */
  throwFailure(): void {
    if (this.#failure) throw this.#failure;
  }

  struct(
    struct: StructType,
    value: Record<string, unknown>,
    path: string,
    goPath: string,
  ): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    if (this.#depth >= DEPTH_MAX) {
      this.#malformed('exceeded max depth');
      return result;
    }
    this.#depth += 1;
    for (const name of Object.keys(value)) {
      const at = path === '' ? name : `${path}.${name}`;
      const field = struct.fields.get(name);
      if (!field) {
        if (struct.preservesUnknown) setOwn(result, name, value[name]);
        else this.#unknown(at);
        continue;
      }
      const content = value[name];
      if (content === null || content === undefined) continue;
      const place = { path: at, goPath: goPath === '' ? name : `${goPath}.${name}`, owner: struct };
      const decoded = this.#value(field.type, content, place);
      if (decoded === undefined || (!field.required && isEmptyCollection(field.type, decoded))) continue;
      if (isZero(decoded) && this.#valueFields(struct).has(name)) continue;
      result[name] = decoded;
    }
    this.#depth -= 1;
    return result;
  }

  #value(type: TypeNode, value: unknown, place: Place): unknown {
    switch (type.node) {
      case 'scalar':
        return this.#scalar(type, value, place);
      case 'opaque':
        return this.#opaque(type, value, place);
      case 'list':
        return this.#list(type, value, place);
      case 'map':
        return this.#map(type, value, place);
      case 'struct':
        if (!isJsonObject(value)) return this.#wrongType(type, value, place);
        return this.struct(type.struct, value, place.path, place.goPath);
    }
  }

  #list(type: ListNode, value: unknown, place: Place): unknown {
    if (!Array.isArray(value)) return this.#wrongType(type, value, place);
    return value.map((item, at) => {
      const inside = { ...place, path: `${place.path}[${at}]` };
      return item === null ? zeroOf(type.items) : this.#value(type.items, item, inside);
    });
  }

  #map(type: MapNode, value: unknown, place: Place): unknown {
    if (!isJsonObject(value)) return this.#wrongType(type, value, place);
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const inside = { ...place, path: `${place.path}.${key}` };
      const decoded = item === null ? zeroOf(type.values) : this.#value(type.values, item, inside);
      setOwn(result, key, decoded);
    }
    return result;
  }

  #opaque(type: OpaqueNode, value: unknown, place: Place): unknown {
    const schema = (inside: unknown, path = place.path): unknown =>
      isJsonObject(inside)
        ? this.struct(structOf('apiextensions.v1.JSONSchemaProps'), inside, path, place.goPath)
        : inside;
    switch (type.opaque) {
      case 'any':
      case 'object':
        return value;
      case 'schemaOrArray':
        return Array.isArray(value)
          ? value.map((item, at) => schema(item, `${place.path}[${at}]`))
          : schema(value);
      case 'schemaOrBool':
      case 'schemaOrStrings':
        return schema(value);
    }
  }

  #scalar(type: ScalarNode, value: unknown, place: Place): unknown {
    switch (type.scalar) {
      case 'string':
        return typeof value === 'string' ? value : this.#wrongType(type, value, place);
      case 'boolean':
        return typeof value === 'boolean' ? value : this.#wrongType(type, value, place);
      case 'double':
        if (typeof value === 'bigint') return Number(value);
        return typeof value === 'number' ? value : this.#wrongType(type, value, place);
      case 'int32':
      case 'int64':
        return this.#integer(type, value, place);
      case 'intOrString':
        if (typeof value === 'string') return value;
        return this.#alone(() => this.#integer(type, value, place));
      case 'bytes':
        if (typeof value !== 'string') return this.#wrongType(type, value, place);
        return this.#bytes(value);
      case 'time':
      case 'microTime':
        return this.#alone(() =>
          typeof value === 'string' ? this.#time(type, value) : this.#wrongType(type, value, place),
        );
      case 'quantity':
        return this.#alone(() => {
          try {
            return quantityFrom(value).toString();
          } catch (error) {
            return this.#malformed(messageOf(error));
          }
        });
    }
  }

  #integer(type: ScalarNode, value: unknown, place: Place): unknown {
    if (typeof value === 'bigint' && type.scalar === 'int64') return value;
    if (typeof value === 'bigint') return this.#wrongType(type, value, place, `number ${value}`);
    if (typeof value !== 'number') return this.#wrongType(type, value, place);
    const fits =
      Number.isInteger(value) &&
      (type.scalar === 'int64' || (value >= -2_147_483_648 && value <= 2_147_483_647));
    return fits ? value : this.#wrongType(type, value, place, `number ${value}`);
  }

  /** Types that read their own JSON end the decoding: their failure is the one reported, whatever was wrong before. */
  #alone<T>(read: () => T): T {
    const before = this.#failure;
    this.#failure = undefined;
    const value = read();
    this.throwFailure();
    this.#failure = before;
    return value;
  }

  /** Written as upstream writes it: in UTC, in whole seconds or microseconds. */
  #time(type: ScalarNode, value: string): unknown {
    const problem = type.scalar === 'microTime' ? microTimeParseError(value) : undefined;
    if (problem !== undefined) return this.#malformed(problem);
    const ms = parseTime(value);
    if (ms === undefined) return this.#malformed(timeParseError(value));
    return type.scalar === 'time' ? formatTime(ms) : formatMicroTime(ms);
  }

  #bytes(value: string): unknown {
    const compact = value.replaceAll(/[\r\n]/g, '');
    const fault = base64Fault(compact);
    return fault === undefined ? compact : this.#malformed(`illegal base64 data at input byte ${fault}`);
  }

  #unknown(path: string): void {
    if (this.strictErrors.length < STRICT_ERRORS_MAX)
      this.strictErrors.push(`unknown field ${goQuote(path)}`);
  }

  #wrongType(type: TypeNode, value: unknown, place: Place, said = valueName(value)): undefined {
    this.#failure ??= new ReasonError(
      'WrongType',
      this.#words === 'converter'
        ? converterSentence(type, value)
        : `json: cannot unmarshal ${said} into Go struct field ${this.#fieldSentence(type, place)}`,
    );
    return undefined;
  }

  #fieldSentence(type: TypeNode, { owner, goPath }: Place): string {
    const names = goPath.split('.');
    const where = `${structName(owner)}.${goFieldPath(this.#root, names)}`;
    return `${where} of type ${fieldTypeName(owner, names.at(-1)!, type)}`;
  }

  #malformed(message: string): undefined {
    this.#failure ??= new ReasonError('Malformed', message);
    return undefined;
  }
}

/** Names come from the body: `__proto__` must become a key like any other. */
const setOwn = (object: Record<string, unknown>, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
};

/** Upstream leaves an empty list or map out unless the field must be there. */
const isEmptyCollection = (type: TypeNode, value: unknown): boolean => {
  if (type.node === 'list') return Array.isArray(value) && value.length === 0;
  return type.node === 'map' && isJsonObject(value) && Object.keys(value).length === 0;
};

/** What stands for a null inside a list or map. */
const zeroOf = (type: TypeNode): unknown => {
  if (type.node === 'struct' || type.node === 'map') return {};
  if (type.node === 'list') return [];
  if (type.node === 'opaque') return null;
  switch (type.scalar) {
    case 'boolean':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'time':
    case 'microTime':
      return null;
    case 'string':
    case 'bytes':
      return '';
  }
};

/**
 * Reads a body as a type: checks every value, drops nulls and what is unknown (and says what), writes
 * quantities in their canonical form. Throws a ReasonError with Go's sentence for the first wrong value.
 */
export const decodeObject = (
  struct: StructType,
  value: Record<string, unknown>,
  words: DecodeWords = 'json',
  valueFields: FindValueFields = noValueFields,
): Decoded => {
  const decoder = new Decoder(struct, words, valueFields);
  const object = decoder.struct(struct, value, '', '');
  decoder.throwFailure();
  return { object, strictErrors: decoder.strictErrors };
};

/** The object without what its type does not know; nothing else changes. */
export const pruneObject = (struct: StructType, value: Record<string, unknown>): Record<string, unknown> => {
  const prune = (type: TypeNode, inside: unknown): unknown => {
    if (type.node === 'list' && Array.isArray(inside)) return inside.map((item) => prune(type.items, item));
    if (!isJsonObject(inside)) return inside;
    if (type.node === 'map')
      return Object.fromEntries(Object.entries(inside).map(([key, item]) => [key, prune(type.values, item)]));
    return type.node === 'struct' ? pruneObject(type.struct, inside) : inside;
  };
  const result: Record<string, unknown> = {};
  for (const [name, content] of Object.entries(value)) {
    const field = struct.fields.get(name);
    if (field) result[name] = prune(field.type, content);
    else if (struct.preservesUnknown) setOwn(result, name, content);
  }
  return result;
};

/** What a strict request is answered, and a lenient one warned with, one by one. */
export const strictDecodingMessage = (errors: readonly string[]): string =>
  `strict decoding error: ${errors.join(', ')}`;

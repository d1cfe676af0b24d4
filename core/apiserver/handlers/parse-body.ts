import { parseDocument, type Document } from 'yaml';
import { ReasonError } from '../../base/errors.ts';
import { exactIntegers, hasLongDigits, parseJsonText } from '../../api/meta/index.ts';
import { goQuote } from '../../api/field/go-text.ts';
import { findDuplicateFields } from '../../api/schema/index.ts';
import { goJsonError } from '../../api/field/go-json-error.ts';
import type { BodyEncoding } from './media-types.ts';
import { parseProtobuf, type FindStruct } from '../protobuf/index.ts';
import { yamlDepthOf } from './yaml-depth.ts';

/** Far beyond any object, and well within the stack of what walks a value afterwards. */
export const BODY_DEPTH_MAX = 1000;
/** The parser of YAML goes deeper into the stack than anything that walks its value. */
const YAML_DEPTH_MAX = 250;
/** One anchor may be repeated so often; more is taken for an attack with nested aliases. */
const YAML_ALIASES_MAX = 100;

export interface ParsedBody {
  readonly value: unknown;
  /** `duplicate field "spec.foo"`, found only when asked for. */
  duplicates(): readonly string[];
}

export type BodyReason = 'BodyMalformed';

const malformed = (message: string, cause?: unknown): ReasonError<BodyReason> =>
  new ReasonError('BodyMalformed', message, { cause });

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, QUOTE, BACKSLASH] = [
  0x7b, 0x7d, 0x5b, 0x5d, 0x22, 0x5c,
];

const [DIGIT_0, DIGIT_9] = [0x30, 0x39];
/** An integer of fewer digits is exact as a number. */
const LONG_DIGITS = 16;

interface JsonShape {
  /** How deep brackets nest. */
  readonly depth: number;
  /** Whether a number outside of strings has so many digits that a JavaScript number may lose some. */
  readonly hasLongNumber: boolean;
}

/** Looked at before parsing: what is too deep is never built. */
const shapeOf = (bytes: Uint8Array): JsonShape => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  let digits = 0;
  let hasLongNumber = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte >= DIGIT_0 && byte <= DIGIT_9) {
      digits += 1;
      if (digits >= LONG_DIGITS) hasLongNumber = true;
      continue;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    digits = 0;
  }
  return { depth: deepest, hasLongNumber };
};

const TOO_DEEP = 'exceeded max depth';

/** Go replaces what is no UTF-8 in JSON; a decoder that does not throw does the same. */
const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

const parsedJson = (text: string, { hasLongNumber }: JsonShape): ParsedBody => ({
  value: hasLongNumber ? parseJsonText(text) : (JSON.parse(text) as unknown),
  duplicates: () => findDuplicateFields(text),
});

export const parseJson = (bytes: Uint8Array): ParsedBody => {
  const shape = shapeOf(bytes);
  if (shape.depth > BODY_DEPTH_MAX) throw malformed(TOO_DEEP);
  const text = textOf(bytes);
  try {
    return parsedJson(text, shape);
  } catch (error) {
    throw malformed(goJsonError(text), error);
  }
};

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const DUPLICATE = 'DUPLICATE_KEY';
/** Upstream reads the first document and leaves the rest. */
const TOLERATED = new Set([DUPLICATE, 'MULTIPLE_DOCS']);

const KEY = /^"(?:[^"\\]|\\.)*"|^'[^']*'|^[^:\n]*/;

/** The key that a mistake points to; quotes are left out. */
const keyAt = (text: string, offset: number): string =>
  (KEY.exec(text.slice(offset))?.[0] ?? '').trim().replace(/^(["'])(.*)\1$/, '$2');

const duplicatesOf = (document: Document, text: string): readonly string[] =>
  document.errors
    .filter(({ code }) => code === DUPLICATE)
    .map(
      ({ linePos, pos }) =>
        `line ${linePos?.[0].line ?? 0}: key ${goQuote(keyAt(text, pos[0]))} already set in map`,
    );

const isJsonText = (text: string): boolean => /^\s*\{/.test(text);

/** YAML 1.2 with the values of JSON: keys are texts, and there are no dates, sets or tags. */
export const parseYaml = (bytes: Uint8Array): ParsedBody => {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch (error) {
    throw malformed('error converting YAML to JSON: yaml: invalid leading UTF-8 octet', error);
  }
  // Most clients that say YAML send JSON, which is parsed many times faster as what it is.
  if (isJsonText(text)) {
    const shape = shapeOf(bytes);
    try {
      if (shape.depth <= BODY_DEPTH_MAX) return parsedJson(text, shape);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  const isExact = hasLongDigits(text);
  const document = readYaml(text, isExact);
  const value = yamlValue(document, isExact);
  return { value, duplicates: () => duplicatesOf(document, text) };
};

const readYaml = (text: string, intAsBigInt: boolean): Document => {
  if (yamlDepthOf(text) > YAML_DEPTH_MAX) throw malformed(yamlError(TOO_DEEP));
  try {
    const document = parseDocument(text, {
      schema: 'core',
      stringKeys: true,
      uniqueKeys: true,
      logLevel: 'silent',
      intAsBigInt,
    });
    const failure = document.errors.find(({ code }) => !TOLERATED.has(code));
    if (failure) throw malformed(yamlError(textOfFailure(failure.message), failure.linePos?.[0].line));
    return document;
  } catch (error) {
    if (error instanceof RangeError) throw malformed(yamlError(TOO_DEEP), error);
    throw error;
  }
};

/** The parser recurses, and tells of the end of the stack as of any other mistake. */
const textOfFailure = (message: string): string =>
  /call stack/i.test(message) ? TOO_DEEP : message.split('\n', 1)[0]!;

const yamlValue = (document: Document, isExact: boolean): unknown => {
  try {
    const value: unknown = document.toJS({
      maxAliasCount: YAML_ALIASES_MAX,
      ...(isExact && { reviver: exactIntegers }),
    });
    if (depthOf(value, BODY_DEPTH_MAX) > BODY_DEPTH_MAX) throw malformed(yamlError(TOO_DEEP));
    return value;
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof RangeError)
      throw malformed(yamlError('document contains excessive aliasing'), error);
    throw error;
  }
};

const yamlError = (text: string, line?: number): string =>
  `error converting YAML to JSON: yaml: ${line === undefined ? '' : `line ${line}: `}${text}`;

const depthOf = (value: unknown, left: number): number => {
  if (typeof value !== 'object' || value === null) return 0;
  if (left <= 0) return 1;
  let deepest = 0;
  for (const inside of Object.values(value)) deepest = Math.max(deepest, depthOf(inside, left - 1));
  return deepest + 1;
};

export const parseBody = (bytes: Uint8Array, encoding: BodyEncoding, findStruct: FindStruct): ParsedBody => {
  switch (encoding) {
    case 'json':
      return parseJson(bytes);
    case 'yaml':
      return parseYaml(bytes);
    case 'protobuf':
      return { value: parseProtobuf(bytes, findStruct), duplicates: () => [] };
  }
};

import { assert } from '../../../base/assert.ts';
import type { Field, Fields, FieldType, InOf, MessageType, OutOf } from './field.ts';
import { MalformedError } from './malformed.ts';
import { Reader } from './reader.ts';
import { WIRE } from './wire-type.ts';
import { Writer } from './writer.ts';

type DecodeBody = (reader: Reader, end: number, depth: number) => unknown;
type EncodeBody = (writer: Writer, value: unknown) => void;

/** What the compiled bodies of other messages call; not for anybody else. */
interface Codec {
  decodeBody: DecodeBody;
  encodeBody: EncodeBody;
}
const codecs = new WeakMap<MessageType<unknown, never>, Codec>();

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_BYTES = new Uint8Array(0);

/** Encoding never yields, so one writer serves the thread; a nested `encode` would break it and is refused. */
const sharedWriter = new Writer();
let writing = false;

/**
 * Declares a message. The decoder and the encoder are compiled from the declaration at first use, one straight
 * function each: in generic code that walks a table, every property access sees every message and none of them
 * is fast. Only names and numbers that are written in the source reach the compiler, never input.
 */
export const message = <F extends Fields>(name: string, fields: F): MessageType<OutOf<F>, InOf<F>> =>
  declare(name, fields);

/** The same with its types spelled out, for messages that contain themselves. */
export const recursiveMessage = <Out, In>(name: string, fields: Fields): MessageType<Out, In> =>
  declare(name, fields);

const declare = <Out, In>(name: string, fields: Fields): MessageType<Out, In> => {
  checkFields(name, fields);
  const codec: Codec = {
    // Compiled at first use: by then every message that this one names is declared.
    decodeBody: (reader, end, depth) => (codec.decodeBody = compileDecoder(name, fields))(reader, end, depth),
    encodeBody: (writer, value) => (codec.encodeBody = compileEncoder(name, fields))(writer, value),
  };
  const type: MessageType<Out, In> = {
    name,
    fields,
    decode(bytes) {
      return codec.decodeBody(new Reader(bytes), bytes.length, 0) as Out;
    },
    encode(value, headroomBytes = 0) {
      assert(!writing, 'one message is encoded at a time');
      writing = true;
      try {
        codec.encodeBody(sharedWriter, value);
        return sharedWriter.finish(headroomBytes);
      } finally {
        sharedWriter.reset();
        writing = false;
      }
    },
    create(value) {
      return type.decode(type.encode(value));
    },
  };
  codecs.set(type as MessageType<unknown, never>, codec);
  return type;
};

const checkFields = (name: string, fields: Fields): void => {
  const numbers = new Set<number>();
  for (const [key, field] of Object.entries(fields)) {
    assert(/^[A-Za-z][A-Za-z0-9]*$/.test(key), `${name}.${key} is not a field name`);
    assert(Number.isInteger(field.number) && field.number > 0, `${name}.${key} has no field number`);
    assert(!numbers.has(field.number), `${name}.${key} reuses number ${field.number}`);
    numbers.add(field.number);
  }
};

const DEFAULTS: Record<FieldType, string> = {
  bytes: 'NO_BYTES',
  string: "''",
  bool: 'false',
  int32: '0',
  uint32: '0',
  int64: '0n',
  uint64: '0n',
  int64Number: '0',
  uint64Number: '0',
  message: 'undefined',
};

const isDelimited = (type: FieldType): boolean => type === 'bytes' || type === 'string' || type === 'message';

const tagOf = (field: Field): number =>
  ((field.number << 3) | (isDelimited(field.type) ? WIRE.delimited : WIRE.varint)) >>> 0;

const packedTagOf = (field: Field): number => ((field.number << 3) | WIRE.delimited) >>> 0;

const codecsOf = (fields: Fields): (Codec | undefined)[] =>
  Object.values(fields).map((field) => {
    if (field.message === undefined) return undefined;
    const codec = codecs.get(field.message());
    assert(codec !== undefined, 'a nested message is declared by this module');
    return codec;
  });

const compileDecoder = (name: string, fields: Fields): DecodeBody => {
  const entries = Object.entries(fields);
  const cases: string[] = [];
  entries.forEach(([key, field], index) => {
    const read =
      field.type === 'message'
        ? `nested[${index}].decodeBody(r, r.nestedEnd(depth), depth + 1)`
        : `r.${field.type}()`;
    const cleared = entries
      .filter(([other, { oneof }]) => oneof !== undefined && oneof === field.oneof && other !== key)
      .map(([other]) => `$${other} = undefined;`)
      .join(' ');
    const store =
      field.label === 'repeated'
        ? `if ($${key} === NO_ITEMS) $${key} = [${read}]; else $${key}.push(${read});`
        : `$${key} = ${read};`;
    cases.push(`case ${tagOf(field)}: ${store} ${cleared} break;`);
    if (field.label === 'repeated' && !isDelimited(field.type)) {
      // Writers may pack lists of numbers; readers take both forms.
      const one = `if ($${key} === NO_ITEMS) $${key} = []; $${key}.push(${read});`;
      cases.push(
        `case ${packedTagOf(field)}: { const stop = r.nestedEnd(depth); while (r.position < stop) { ${one} } break; }`,
      );
    }
  });
  const initial = ({ label, type }: Field): string =>
    label === 'repeated' ? 'NO_ITEMS' : label === 'optional' ? 'undefined' : DEFAULTS[type];
  const source = `
    return (r, end, depth) => {
      ${entries.map(([key, field]) => `let $${key} = ${initial(field)};`).join(' ')}
      while (r.position < end) {
        const tag = r.tag();
        switch (tag) {
          ${cases.join('\n')}
          default: refuseMistyped(tag); r.skip(tag, depth);
        }
      }
      if (r.position !== end) throw overrun(${JSON.stringify(name)});
      return { ${entries.map(([key]) => `${key}: $${key}`).join(', ')} };
    };`;
  const overrun = (what: string) => new MalformedError(`${what} runs over its end`);
  const names = new Map(entries.map(([key, { number }]) => [number, key]));
  // Only a field that is not known is skipped; in the words of the code that is generated for etcd.
  const refuseMistyped = (tag: number): void => {
    const key = names.get(tag >>> 3);
    if (key === undefined) return;
    const goName = key.charAt(0).toUpperCase() + key.slice(1);
    throw new MalformedError(`wrong wireType = ${tag & 7} for field ${goName}`);
  };
  const build = new Function('nested', 'NO_ITEMS', 'NO_BYTES', 'overrun', 'refuseMistyped', source) as (
    ...scope: unknown[]
  ) => DecodeBody;
  return build(codecsOf(fields), NO_ITEMS, NO_BYTES, overrun, refuseMistyped);
};

const compileEncoder = (name: string, fields: Fields): EncodeBody => {
  const indexed = Object.entries(fields).map(([key, field], index) => ({ key, field, index }));
  // From the highest number to the lowest, because the writer runs backwards.
  indexed.sort((a, b) => b.field.number - a.field.number);
  const write = (field: Field, index: number, value: string): string => {
    const tag = tagOf(field);
    if (field.type !== 'message') return `w.${WRITE[field.type]}(${tag}, ${value});`;
    return `if (${value} instanceof Uint8Array) w.bytes(${tag}, ${value});
      else { const before = w.size(); nested[${index}].encodeBody(w, ${value}); w.close(${tag}, before); }`;
  };
  const statements = indexed.map(({ key, field, index }) => {
    const take = `const v = m.${key};`;
    if (field.label === 'repeated' && !isDelimited(field.type)) {
      assert(field.type === 'int32', `${name}.${key}: only lists of enums are packed`);
      return `{ ${take} if (v !== undefined && v.length > 0) {
        const before = w.size();
        for (let i = v.length - 1; i >= 0; i -= 1) w.packedInt32(v[i]);
        w.close(${packedTagOf(field)}, before); } }`;
    }
    if (field.label === 'repeated')
      return `{ ${take} if (v !== undefined)
        for (let i = v.length - 1; i >= 0; i -= 1) { const item = v[i]; ${write(field, index, 'item')} } }`;
    return `{ ${take} if (${presence(field)}) { ${write(field, index, 'v')} } }`;
  });
  const source = `return (w, m) => { ${statements.join('\n')} };`;
  const build = new Function('nested', source) as (nested: unknown) => EncodeBody;
  return build(codecsOf(fields));
};

const WRITE: Record<Exclude<FieldType, 'message'>, string> = {
  bytes: 'bytes',
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  uint32: 'uint32',
  int64: 'int64',
  uint64: 'int64',
  int64Number: 'int64Number',
  uint64Number: 'int64Number',
};

/** proto3 leaves defaults off the wire, except where presence itself says something. */
const presence = ({ label, type }: Field): string => {
  if (label === 'optional' || type === 'message') return 'v !== undefined';
  if (type === 'bytes' || type === 'string') return 'v !== undefined && v.length !== 0';
  return `v !== undefined && v !== ${DEFAULTS[type]}`;
};

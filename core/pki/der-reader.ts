import { PkiError } from './errors.ts';

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

export const contextTag = (number: number, constructed: boolean): number =>
  0x80 | (constructed ? 0x20 : 0) | number;

/** One value with the exact bytes it was written in: signatures are over those, not over a re-encoding. */
export interface DerValue {
  readonly tag: number;
  /** Tag, length and content. */
  readonly bytes: Uint8Array;
  readonly content: Uint8Array;
}

const LENGTH_BYTES_MAX = 4;

const malformed = (why: string): PkiError => new PkiError('Malformed', `not valid DER: ${why}`);

const lengthAt = (bytes: Uint8Array, at: number): { length: number; headerBytes: number } => {
  const first = bytes[at];
  if (first === undefined) throw malformed('it ends before a length');
  if (first < 0x80) return { length: first, headerBytes: 1 };
  const count = first & 0x7f;
  if (count === 0 || count > LENGTH_BYTES_MAX) throw malformed('a length is indefinite or too large');
  let length = 0;
  for (let i = 1; i <= count; i += 1) {
    const byte = bytes[at + i];
    if (byte === undefined) throw malformed('it ends within a length');
    length = length * 256 + byte;
  }
  if (length < 0x80 || bytes[at + 1] === 0) throw malformed('a length is not in its shortest form');
  return { length, headerBytes: 1 + count };
};

const valueAt = (bytes: Uint8Array, at: number): DerValue => {
  const tag = bytes[at];
  if (tag === undefined) throw malformed('it ends before a value');
  if ((tag & 0x1f) === 0x1f) throw malformed('it uses a long tag');
  const { length, headerBytes } = lengthAt(bytes, at + 1);
  const from = at + 1 + headerBytes;
  if (from + length > bytes.length) throw malformed('it ends within a value');
  return { tag, bytes: bytes.subarray(at, from + length), content: bytes.subarray(from, from + length) };
};

/** The values one after the other in `bytes`, which they must fill. */
export const readAll = (bytes: Uint8Array): DerValue[] => {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length;) {
    const value = valueAt(bytes, at);
    values.push(value);
    at += value.bytes.length;
  }
  return values;
};

export const readOne = (bytes: Uint8Array, tag: number): DerValue => {
  const [value, ...rest] = readAll(bytes);
  if (!value || rest.length > 0) throw malformed('exactly one value was expected');
  return expectTag(value, tag);
};

export const expectTag = (value: DerValue | undefined, tag: number): DerValue => {
  if (value?.tag !== tag)
    throw malformed(`tag ${tag.toString(16)} was expected, not ${value?.tag.toString(16) ?? 'the end'}`);
  return value;
};

export const readOid = (value: DerValue | undefined): string => {
  const { content } = expectTag(value, TAG.oid);
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(arc)) throw malformed('an object identifier is too large');
    if ((byte & 0x80) !== 0) continue;
    if (arcs.length === 0)
      arcs.push(Math.min(2, Math.floor(arc / 40)), arc - Math.min(2, Math.floor(arc / 40)) * 40);
    else arcs.push(arc);
    arc = 0;
  }
  return arcs.join('.');
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

export const readText = (value: DerValue): string => {
  const bytes = Buffer.from(value.content);
  switch (value.tag) {
    case TAG.utf8String:
      try {
        return utf8.decode(value.content);
      } catch (cause) {
        throw new PkiError('Malformed', 'not valid DER: a text is not UTF-8', { cause });
      }
    case TAG.printableString:
    case TAG.ia5String:
      return bytes.toString('latin1');
    case TAG.bmpString:
      return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : bytes.toString('latin1');
    default:
      throw malformed(`tag ${value.tag.toString(16)} is not a text`);
  }
};

export const readTimeMs = (value: DerValue | undefined): number => {
  const digits = Buffer.from(value?.content ?? []).toString('latin1');
  const match =
    value?.tag === TAG.utcTime
      ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)
      : value?.tag === TAG.generalizedTime
        ? /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)
        : null;
  if (!match) throw malformed('a time is not in the form certificates use');
  const [year = 0, month = 1, day, hour, minute, second] = match.slice(1).map(Number);
  const century = value?.tag === TAG.generalizedTime ? 0 : year < 50 ? 2000 : 1900;
  return Date.UTC(century + year, month - 1, day, hour, minute, second);
};

/** The bytes of a bit string that uses all its bits, as keys and signatures do. */
export const readBits = (value: DerValue | undefined): Uint8Array => {
  const { content } = expectTag(value, TAG.bitString);
  if (content[0] !== 0) throw malformed('a bit string does not end on a byte');
  return content.subarray(1);
};

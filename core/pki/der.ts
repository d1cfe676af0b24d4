// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- an ambient module cannot be imported
/// <reference path="./forge-asn1.d.ts" />
import type { asn1 as Asn1Namespace } from 'node-forge';
import asn1 from 'node-forge/lib/asn1.js';

/** A value on its way to DER. Values are made here, and read back by `der-reader.ts`. */
export type Der = Asn1Namespace.Asn1;

const { Class, Type } = asn1;
/** RFC 5280, section 4.1.2.5: dates through 2049 are UTCTime, later ones GeneralizedTime. */
const GENERALIZED_TIME_FROM_MS = Date.UTC(2050, 0, 1);

const binary = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const universal = (type: Asn1Namespace.Type, value: string | Der[]): Der =>
  asn1.create(Class.UNIVERSAL, type, Array.isArray(value), value);

export const sequence = (...items: Der[]): Der => universal(Type.SEQUENCE, items);
export const set = (...items: Der[]): Der => universal(Type.SET, items);
export const oid = (dotted: string): Der => universal(Type.OID, asn1.oidToDer(dotted).getBytes());
export const nothing = (): Der => universal(Type.NULL, '');
export const boolean = (value: boolean): Der => universal(Type.BOOLEAN, value ? '\xff' : '\x00');
export const octetString = (bytes: Uint8Array): Der => universal(Type.OCTETSTRING, binary(bytes));
export const smallInteger = (value: number): Der =>
  universal(Type.INTEGER, asn1.integerToDer(value).getBytes());

/** An unsigned integer of any size, big-endian. */
export const unsignedInteger = (bytes: Uint8Array): Der => {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from += 1;
  const digits = bytes.subarray(from);
  const needsSign = ((digits[0] ?? 0) & 0x80) !== 0;
  return universal(Type.INTEGER, (needsSign ? '\x00' : '') + binary(digits));
};

/** PrintableString where the text allows it and UTF8String elsewhere, as Go's encoder chooses. */
export const text = (value: string): Der =>
  /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value)
    ? universal(Type.PRINTABLESTRING, value)
    : universal(Type.UTF8, binary(Buffer.from(value, 'utf8')));

export const bitString = (bytes: Uint8Array, unusedBits = 0): Der =>
  universal(Type.BITSTRING, String.fromCharCode(unusedBits) + binary(bytes));

export const time = (atMs: number): Der => {
  const date = new Date(atMs);
  return atMs < GENERALIZED_TIME_FROM_MS
    ? universal(Type.UTCTIME, asn1.dateToUtcTime(date))
    : universal(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
};

/** `[tag]` around a whole value. */
export const explicit = (tag: number, item: Der): Der =>
  asn1.create(Class.CONTEXT_SPECIFIC, tag as Asn1Namespace.Type, true, [item]);

/** `[tag]` in place of the value's own tag. */
export const implicit = (tag: number, value: Uint8Array | Der[]): Der =>
  Array.isArray(value)
    ? asn1.create(Class.CONTEXT_SPECIFIC, tag as Asn1Namespace.Type, true, value)
    : asn1.create(Class.CONTEXT_SPECIFIC, tag as Asn1Namespace.Type, false, binary(value));

const readOptions = { strict: true, parseAllBytes: true, decodeBitStrings: false };

/** Bytes that are DER already (a public key, another certificate's name). */
export const encoded = (bytes: Uint8Array): Der =>
  // The declared signature knows only the older boolean form of the options.
  asn1.fromDer(binary(bytes), readOptions as unknown as boolean);

export const encode = (value: Der): Buffer => Buffer.from(asn1.toDer(value).getBytes(), 'latin1');

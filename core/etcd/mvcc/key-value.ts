/** The fields of mvccpb.KeyValue. Revisions and versions are safe integers; lease identifiers use all 64 bits. */
export interface KeyValueFields {
  readonly key: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Buffer;
  readonly lease: bigint;
}

export const NO_LEASE = 0n;
export const EMPTY: Buffer = Buffer.alloc(0);

// Tags of mvccpb.KeyValue: field number << 3 | wire type.
const KEY = 0x0a;
const CREATE_REVISION = 0x10;
const MOD_REVISION = 0x18;
const VERSION = 0x20;
const VALUE = 0x2a;
const LEASE = 0x30;

const varintSize = (value: number): number => {
  let size = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1;
  return size;
};

const writeVarint = (into: Buffer, value: number, offset: number): number => {
  let at = offset;
  let rest = value;
  while (rest >= 128) {
    into[at++] = (rest % 128) | 128;
    rest = rest < 2 ** 31 ? rest >>> 7 : Math.floor(rest / 128);
  }
  into[at++] = rest;
  return at;
};

const leaseBytes = (lease: bigint): number[] => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, lease);
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return bytes;
};

/** Canonical protobuf, zero fields left out, exactly as etcd stores it: hashes of both must agree. */
export const encodeKeyValue = (
  key: Uint8Array,
  createRevision: number,
  modRevision: number,
  version: number,
  value: Uint8Array,
  lease: bigint,
): Buffer => {
  const leaseVarint = lease === NO_LEASE ? undefined : leaseBytes(lease);
  let size = 0;
  if (key.byteLength > 0) size += 1 + varintSize(key.byteLength) + key.byteLength;
  if (createRevision !== 0) size += 1 + varintSize(createRevision);
  if (modRevision !== 0) size += 1 + varintSize(modRevision);
  if (version !== 0) size += 1 + varintSize(version);
  if (value.byteLength > 0) size += 1 + varintSize(value.byteLength) + value.byteLength;
  if (leaseVarint !== undefined) size += 1 + leaseVarint.length;
  const into = Buffer.allocUnsafe(size);
  let at = 0;
  if (key.byteLength > 0) {
    into[at++] = KEY;
    at = writeVarint(into, key.byteLength, at);
    into.set(key, at);
    at += key.byteLength;
  }
  if (createRevision !== 0) {
    into[at++] = CREATE_REVISION;
    at = writeVarint(into, createRevision, at);
  }
  if (modRevision !== 0) {
    into[at++] = MOD_REVISION;
    at = writeVarint(into, modRevision, at);
  }
  if (version !== 0) {
    into[at++] = VERSION;
    at = writeVarint(into, version, at);
  }
  if (value.byteLength > 0) {
    into[at++] = VALUE;
    at = writeVarint(into, value.byteLength, at);
    into.set(value, at);
    at += value.byteLength;
  }
  if (leaseVarint !== undefined) {
    into[at++] = LEASE;
    into.set(leaseVarint, at);
  }
  return into;
};

class Reader {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new RangeError('a stored key-value ends inside a number');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  int64(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new RangeError('a stored key-value ends inside a lease');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  }

  slice(): Buffer {
    const length = this.number();
    const start = this.at;
    this.at += length;
    if (this.at > this.bytes.byteLength) throw new RangeError('a stored key-value ends inside a field');
    return this.bytes.subarray(start, this.at);
  }
}

const decodeFields = (bytes: Buffer): KeyValueFields => {
  const reader = new Reader(bytes);
  let key: Buffer = EMPTY;
  let createRevision = 0;
  let modRevision = 0;
  let version = 0;
  let value: Buffer = EMPTY;
  let lease = NO_LEASE;
  while (reader.at < bytes.byteLength) {
    const tag: number = bytes[reader.at++] ?? 0;
    switch (tag) {
      case KEY:
        key = reader.slice();
        break;
      case CREATE_REVISION:
        createRevision = reader.number();
        break;
      case MOD_REVISION:
        modRevision = reader.number();
        break;
      case VERSION:
        version = reader.number();
        break;
      case VALUE:
        value = reader.slice();
        break;
      case LEASE:
        lease = reader.int64();
        break;
      default:
        throw new RangeError(`a stored key-value has the unknown tag ${tag}`);
    }
  }
  return { key, createRevision, modRevision, version, value, lease };
};

/**
 * One version of a key. Kept as the protobuf bytes it is stored in, so that an answer can carry `encoded` as
 * it is; the fields are decoded when one of them is asked for, as views on the same bytes.
 */
export class KeyValue implements KeyValueFields {
  readonly encoded: Buffer;
  #fields: KeyValueFields | undefined;

  constructor(encoded: Buffer) {
    this.encoded = encoded;
  }

  static of(fields: KeyValueFields): KeyValue {
    const { key, createRevision, modRevision, version, value, lease } = fields;
    return new KeyValue(encodeKeyValue(key, createRevision, modRevision, version, value, lease));
  }

  get fields(): KeyValueFields {
    return (this.#fields ??= decodeFields(this.encoded));
  }
  get key(): Buffer {
    return this.fields.key;
  }
  get createRevision(): number {
    return this.fields.createRevision;
  }
  get modRevision(): number {
    return this.fields.modRevision;
  }
  get version(): number {
    return this.fields.version;
  }
  get value(): Buffer {
    return this.fields.value;
  }
  get lease(): bigint {
    return this.fields.lease;
  }

  withoutValue(): KeyValue {
    return this.value.byteLength === 0 ? this : KeyValue.of({ ...this.fields, value: EMPTY });
  }
}

/** The key of a stored version without decoding the rest: it is always the first field. */
export const storedKey = (encoded: Buffer): Buffer => {
  const reader = new Reader(encoded);
  if (encoded[reader.at++] !== KEY) return new KeyValue(encoded).key;
  return reader.slice();
};

import { formatIp } from '../../api/validation/ip.ts';
import { malformed } from './errors.ts';
import {
  MESSAGE_BYTES_MAX,
  TYPE,
  type Edns,
  type Message,
  type Question,
  type RecordData,
  type ResourceRecord,
} from './message.ts';
import { readName } from './name.ts';

const HEADER_BYTES = 12;

/** A place in a message. Reading past the end throws WireError `Malformed`. */
class Reader {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  number(size: 1 | 2 | 4): number {
    if (this.at + size > this.bytes.length) throw malformed('the message is cut off');
    let value = 0;
    for (let index = 0; index < size; index += 1) value = value * 256 + this.bytes[this.at + index]!;
    this.at += size;
    return value;
  }

  take(size: number): Uint8Array {
    if (this.at + size > this.bytes.length) throw malformed('the message is cut off');
    const taken = this.bytes.slice(this.at, this.at + size);
    this.at += size;
    return taken;
  }

  name(): string {
    const { name, next } = readName(this.bytes, this.at);
    this.at = next;
    return name;
  }
}

const addressOf = (bytes: Uint8Array): string =>
  formatIp({
    family: bytes.length === 4 ? 4 : 6,
    bits: bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n),
  });

const textsOf = (bytes: Uint8Array): string[] => {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes[at]!;
    if (at + 1 + length > bytes.length) throw malformed('a text ends behind its record');
    texts.push(String.fromCharCode(...bytes.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  return texts;
};

const readData = (reader: Reader, type: number, length: number): RecordData => {
  switch (type) {
    case TYPE.A:
    case TYPE.AAAA:
      if (length !== (type === TYPE.A ? 4 : 16)) throw malformed('an address has the wrong length');
      return { kind: 'address', address: addressOf(reader.take(length)) };
    case TYPE.CNAME:
    case TYPE.NS:
    case TYPE.PTR:
      return { kind: 'name', target: reader.name() };
    case TYPE.MX:
      return { kind: 'mx', preference: reader.number(2), target: reader.name() };
    case TYPE.SRV:
      return {
        kind: 'srv',
        priority: reader.number(2),
        weight: reader.number(2),
        port: reader.number(2),
        target: reader.name(),
      };
    case TYPE.SOA:
      return {
        kind: 'soa',
        primary: reader.name(),
        mailbox: reader.name(),
        serial: reader.number(4),
        refreshSeconds: reader.number(4),
        retrySeconds: reader.number(4),
        expireSeconds: reader.number(4),
        minimumSeconds: reader.number(4),
      };
    case TYPE.TXT:
      return { kind: 'txt', texts: textsOf(reader.take(length)) };
    default:
      return { kind: 'raw', bytes: reader.take(length) };
  }
};

const readQuestion = (reader: Reader): Question => ({
  name: reader.name(),
  type: reader.number(2),
  class: reader.number(2),
});

const readRecord = (reader: Reader): ResourceRecord => {
  const [name, type, klass, ttlSeconds, length] = [
    reader.name(),
    reader.number(2),
    reader.number(2),
    reader.number(4),
    reader.number(2),
  ];
  const end = reader.at + length;
  if (end > reader.bytes.length) throw malformed('a record ends behind the message');
  const data = readData(reader, type, length);
  if (reader.at !== end) throw malformed('a record has another length than it says');
  return { name, type, class: klass, ttlSeconds, data };
};

interface Options {
  readonly edns: Edns;
  readonly extendedRcode: number;
}

/** The OPT record: its class is a size, its TTL are flags. */
const readOptions = ({ name, class: udpBytes, ttlSeconds, data }: ResourceRecord): Options => {
  if (name !== '.' || data.kind !== 'raw') throw malformed('an OPT record has a name');
  const reader = new Reader(data.bytes);
  const options: { code: number; bytes: Uint8Array }[] = [];
  while (reader.at < data.bytes.length)
    options.push({ code: reader.number(2), bytes: reader.take(reader.number(2)) });
  return {
    extendedRcode: Math.floor(ttlSeconds / 2 ** 24),
    edns: {
      udpBytes,
      version: Math.floor(ttlSeconds / 2 ** 16) % 256,
      isDnssecOk: (ttlSeconds & 0x8000) !== 0,
      options,
    },
  };
};

/** Only the id, for an answer to bytes that are no message. */
export const idOf = (bytes: Uint8Array): number | undefined =>
  bytes.length < HEADER_BYTES ? undefined : bytes[0]! * 256 + bytes[1]!;

/** Throws WireError `Malformed`, and nothing else, whatever the bytes are. Bytes behind the last record are refused. */
export const decodeMessage = (bytes: Uint8Array): Message => {
  if (bytes.length > MESSAGE_BYTES_MAX) throw malformed('the message is longer than 65535 bytes');
  const reader = new Reader(bytes);
  const [id, flags] = [reader.number(2), reader.number(2)];
  const counts = [reader.number(2), reader.number(2), reader.number(2), reader.number(2)] as const;
  // Each reads at least five bytes or throws: counts cannot make this longer than the message.
  const many = <T>(count: number, read: (reader: Reader) => T): T[] => {
    const items: T[] = [];
    for (let index = 0; index < count; index += 1) items.push(read(reader));
    return items;
  };
  const questions = many(counts[0], readQuestion);
  const answers = many(counts[1], readRecord);
  const authorities = many(counts[2], readRecord);
  const additionals = many(counts[3], readRecord);
  if (reader.at !== bytes.length) throw malformed('there are bytes behind the message');
  if ([...answers, ...authorities].some(({ type }) => type === TYPE.OPT))
    throw malformed('an OPT record is not in the additional section');
  const options = additionals.filter(({ type }) => type === TYPE.OPT);
  if (options.length > 1) throw malformed('there is more than one OPT record');
  const option = options[0] && readOptions(options[0]);
  const bit = (mask: number): boolean => (flags & mask) !== 0;
  return {
    id,
    isResponse: bit(0x8000),
    opcode: (flags >> 11) & 0xf,
    isAuthoritative: bit(0x400),
    isTruncated: bit(0x200),
    isRecursionDesired: bit(0x100),
    isRecursionAvailable: bit(0x80),
    isAuthenticData: bit(0x20),
    isCheckingDisabled: bit(0x10),
    rcode: (flags & 0xf) + (option?.extendedRcode ?? 0) * 16,
    questions,
    answers,
    authorities,
    additionals: additionals.filter(({ type }) => type !== TYPE.OPT),
    edns: option?.edns,
  };
};

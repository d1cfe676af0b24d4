import { parseIp } from '../../api/validation/ip.ts';
import { unencodable } from './errors.ts';
import {
  MESSAGE_BYTES_MAX,
  TYPE,
  type Edns,
  type Message,
  type RecordData,
  type ResourceRecord,
} from './message.ts';
import { labelsOf } from './name.ts';

/** Pointers have 14 bits. */
const POINTER_MAX = 0x3fff;
const TEXT_BYTES_MAX = 255;

/** Bytes so far, and where the ends of names that were written before are. */
class Writer {
  readonly bytes: number[] = [];
  readonly #suffixes = new Map<string, number>();

  number(size: 1 | 2 | 4, value: number): void {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** (8 * size))
      throw unencodable(`${value} is no number of ${size} bytes`);
    for (let shift = size - 1; shift >= 0; shift -= 1)
      this.bytes.push(Math.floor(value / 2 ** (8 * shift)) % 256);
  }

  put(bytes: Uint8Array): void {
    for (const byte of bytes) this.bytes.push(byte);
  }

  /** Compressed where `mayPoint`: targets of SRV are not, by RFC 2782. */
  name(name: string, mayPoint = true): void {
    const labels = labelsOf(name);
    const keys = labels.map((label) => `${label.length}:${label.join(',')}`);
    for (let index = 0; index < labels.length; index += 1) {
      const suffix = keys.slice(index).join('.');
      const known = mayPoint ? this.#suffixes.get(suffix) : undefined;
      if (known !== undefined) return this.number(2, 0xc000 | known);
      if (this.bytes.length <= POINTER_MAX && !this.#suffixes.has(suffix))
        this.#suffixes.set(suffix, this.bytes.length);
      this.number(1, labels[index]!.length);
      this.put(labels[index]!);
    }
    this.number(1, 0);
  }

  /** Everything since then is taken back. */
  rewind(length: number): void {
    this.bytes.length = length;
    for (const [suffix, at] of [...this.#suffixes]) if (at >= length) this.#suffixes.delete(suffix);
  }

  patch(at: number, value: number): void {
    this.bytes[at] = Math.floor(value / 256);
    this.bytes[at + 1] = value % 256;
  }
}

const writeAddress = (writer: Writer, type: number, text: string): void => {
  const address = parseIp(text);
  if (address?.family !== (type === TYPE.A ? 4 : 6))
    throw unencodable(`${JSON.stringify(text)} is no address of this record`);
  const size = address.family === 4 ? 4 : 16;
  for (let index = size - 1; index >= 0; index -= 1)
    writer.number(1, Number((address.bits >> BigInt(8 * index)) & 0xffn));
};

const writeData = (writer: Writer, type: number, data: RecordData): void => {
  switch (data.kind) {
    case 'address':
      return writeAddress(writer, type, data.address);
    case 'name':
      return writer.name(data.target);
    case 'mx':
      writer.number(2, data.preference);
      return writer.name(data.target);
    case 'srv':
      for (const value of [data.priority, data.weight, data.port]) writer.number(2, value);
      return writer.name(data.target, false);
    case 'soa':
      writer.name(data.primary);
      writer.name(data.mailbox);
      for (const value of [
        data.serial,
        data.refreshSeconds,
        data.retrySeconds,
        data.expireSeconds,
        data.minimumSeconds,
      ])
        writer.number(4, value);
      return;
    case 'txt':
      for (const text of data.texts) {
        if (text.length > TEXT_BYTES_MAX) throw unencodable('a text is longer than 255 bytes');
        writer.number(1, text.length);
        for (let at = 0; at < text.length; at += 1) writer.number(1, text.charCodeAt(at));
      }
      return;
    case 'raw':
      return writer.put(data.bytes);
  }
};

const writeRecord = (writer: Writer, record: ResourceRecord): void => {
  writer.name(record.name);
  writer.number(2, record.type);
  writer.number(2, record.class);
  writer.number(4, record.ttlSeconds);
  const at = writer.bytes.length;
  writer.number(2, 0);
  writeData(writer, record.type, record.data);
  const length = writer.bytes.length - at - 2;
  if (length > MESSAGE_BYTES_MAX) throw unencodable('a record is longer than 65535 bytes');
  writer.patch(at, length);
};

const optRecord = ({ udpBytes, version, isDnssecOk, options }: Edns, rcode: number): ResourceRecord => {
  const writer = new Writer();
  for (const { code, bytes } of options) {
    writer.number(2, code);
    writer.number(2, bytes.length);
    writer.put(bytes);
  }
  return {
    name: '.',
    type: TYPE.OPT,
    class: udpBytes,
    ttlSeconds: Math.floor(rcode / 16) * 2 ** 24 + version * 2 ** 16 + (isDnssecOk ? 0x8000 : 0),
    data: { kind: 'raw', bytes: Uint8Array.from(writer.bytes) },
  };
};

const flagsOf = (message: Message, isCut: boolean): number =>
  (message.isResponse ? 0x8000 : 0) |
  ((message.opcode & 0xf) << 11) |
  (message.isAuthoritative ? 0x400 : 0) |
  (message.isTruncated || isCut ? 0x200 : 0) |
  (message.isRecursionDesired ? 0x100 : 0) |
  (message.isRecursionAvailable ? 0x80 : 0) |
  (message.isAuthenticData ? 0x20 : 0) |
  (message.isCheckingDisabled ? 0x10 : 0) |
  (message.rcode & 0xf);

/** Records that fit into `bytesMax`, in their order. */
const writeSome = (writer: Writer, records: readonly ResourceRecord[], bytesMax: number): number => {
  let count = 0;
  for (const record of records) {
    const before = writer.bytes.length;
    writeRecord(writer, record);
    if (writer.bytes.length > bytesMax) {
      writer.rewind(before);
      return count;
    }
    count += 1;
  }
  return count;
};

/**
 * The message as bytes, at most `bytesMax` of them: what does not fit is left out, and TC says so where answers or
 * authorities are missing (RFC 2181, section 9: additional records may be left out without it). The OPT record stays.
 * Throws WireError `Invalid`.
 */
export const encodeMessage = (message: Message, bytesMax = MESSAGE_BYTES_MAX): Uint8Array => {
  const opt = message.edns && optRecord(message.edns, message.rcode);
  const optBytes = opt && opt.data.kind === 'raw' ? 11 + opt.data.bytes.length : 0;
  if (!opt && message.rcode > 0xf) throw unencodable(`rcode ${message.rcode} needs EDNS`);
  const writer = new Writer();
  writer.number(2, message.id);
  writer.number(2, 0);
  for (let count = 0; count < 4; count += 1) writer.number(2, 0);
  for (const question of message.questions) {
    writer.name(question.name);
    writer.number(2, question.type);
    writer.number(2, question.class);
  }
  if (writer.bytes.length + optBytes > MESSAGE_BYTES_MAX) throw unencodable('the questions are too long');
  const room = Math.min(bytesMax, MESSAGE_BYTES_MAX) - optBytes;
  const answers = writeSome(writer, message.answers, room);
  const isWithAnswers = answers === message.answers.length;
  const authorities = isWithAnswers ? writeSome(writer, message.authorities, room) : 0;
  const isCut = !isWithAnswers || authorities < message.authorities.length;
  const additionals = isCut ? 0 : writeSome(writer, message.additionals, room);
  if (opt) writeRecord(writer, opt);
  writer.patch(2, flagsOf(message, isCut));
  writer.patch(4, message.questions.length);
  writer.patch(6, answers);
  writer.patch(8, authorities);
  writer.patch(10, additionals + (opt ? 1 : 0));
  return Uint8Array.from(writer.bytes);
};

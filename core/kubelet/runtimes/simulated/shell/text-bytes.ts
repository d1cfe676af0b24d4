import { isUtf8 } from 'node:buffer';

/**
 * Commands of the shell work on text, files and streams on bytes. A byte that is not UTF-8 becomes the lone surrogate
 * U+DC00 + byte, which no valid text contains, so that bytes survive the way through any command unchanged.
 */
const ESCAPE = 0xdc00;
const ESCAPED = /[\uDC80-\uDCFF]/;

/** How many bytes the character has that starts with `lead`; 0 where none does. */
const lengthOf = (lead: number): number => {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
};

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const textOf = (given: Uint8Array): string => {
  const bytes = view(given);
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const pieces: string[] = [];
  let plainFrom = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = lengthOf(bytes[at]!);
    if (
      length === 1 ||
      (length > 1 && at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)))
    ) {
      at += length;
      continue;
    }
    if (plainFrom < at) pieces.push(bytes.toString('utf8', plainFrom, at));
    pieces.push(String.fromCharCode(ESCAPE + bytes[at]!));
    at += 1;
    plainFrom = at;
  }
  if (plainFrom < at) pieces.push(bytes.toString('utf8', plainFrom, at));
  return pieces.join('');
};

const isPairAt = (text: string, at: number): boolean => (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

export const bytesOf = (text: string): Buffer => {
  if (!ESCAPED.test(text)) return Buffer.from(text);
  const pieces: Buffer[] = [];
  let plainFrom = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // The second half of a character outside the basic plane is no escape.
    if (code < ESCAPE + 0x80 || code > ESCAPE + 0xff || (at > 0 && isPairAt(text, at))) continue;
    if (plainFrom < at) pieces.push(Buffer.from(text.slice(plainFrom, at)));
    pieces.push(Buffer.from([code - ESCAPE]));
    plainFrom = at + 1;
  }
  if (plainFrom < text.length) pieces.push(Buffer.from(text.slice(plainFrom)));
  return Buffer.concat(pieces);
};

/** Bytes that arrive in chunks, which may end inside a character. */
export class TextOfChunks {
  #rest = Buffer.alloc(0);

  write(chunk: Uint8Array): string {
    const bytes = Buffer.concat([this.#rest, chunk]);
    let end = bytes.length;
    for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
      const byte = bytes[bytes.length - back]!;
      if ((byte & 0xc0) === 0x80) continue;
      if (lengthOf(byte) > back) end = bytes.length - back;
      break;
    }
    this.#rest = Buffer.from(bytes.subarray(end));
    return textOf(bytes.subarray(0, end));
  }

  end(): string {
    const text = textOf(this.#rest);
    this.#rest = Buffer.alloc(0);
    return text;
  }
}

import { timingSafeEqual } from 'node:crypto';
import { ReasonError } from '../../base/errors.ts';
import { Blowfish } from './blowfish.ts';

/** As Go's bcrypt, which etcd uses: bytes beyond this would not count, so a longer password is an error. */
export const PASSWORD_BYTES_MAX = 72;
export const BCRYPT_COST = { min: 4, max: 31, default: 10 } as const;

const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SALT_BYTES = 16;
const DIGEST_BYTES = 23;
const TEXT = 'OrpheanBeholderScryDoubt';
const TEXT_ROUNDS = 64;
/** Key expansions between two pauses: about a millisecond. */
const EXPANSIONS_PER_TURN = 16;
const NO_SALT = new Uint32Array(4);
const FORMAT = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;

/** Lets the event loop run: a hash takes a tenth of a second and more. */
export type Pause = () => Promise<void>;

const encode = (bytes: Uint8Array): string => {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b, c] = [bytes[at]!, bytes[at + 1], bytes[at + 2]];
    text += ALPHABET[a >> 2]! + ALPHABET[((a & 3) << 4) | ((b ?? 0) >> 4)]!;
    if (b === undefined) break;
    text += ALPHABET[((b & 15) << 2) | ((c ?? 0) >> 6)]!;
    if (c !== undefined) text += ALPHABET[c & 63]!;
  }
  return text;
};

const decode = (text: string, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of text) {
    held = ((held << 6) | ALPHABET.indexOf(letter)) & 0xffff;
    bits += 6;
    if (bits < 8 || at === length) continue;
    bits -= 8;
    bytes[at] = (held >> bits) & 0xff;
    at += 1;
  }
  return bytes;
};

/** Big-endian words of the bytes, repeated: bcrypt's key is cyclic by byte, not by word. */
const cyclicWords = (bytes: Uint8Array, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, word) => {
    let value = 0;
    for (let i = 0; i < 4; i += 1) value = (value << 8) | bytes[(word * 4 + i) % bytes.length]!;
    return value;
  });

const KEY_WORDS = 18;

const digest = async (password: Uint8Array, salt: Buffer, cost: number, pause: Pause): Promise<Buffer> => {
  const key = cyclicWords(Buffer.concat([password, Buffer.of(0)]), KEY_WORDS);
  const saltWords = cyclicWords(salt, SALT_BYTES / 4);
  const saltKey = cyclicWords(salt, KEY_WORDS);
  const cipher = new Blowfish();
  cipher.expand(key, saltWords);
  for (let round = 0; round < 2 ** cost; round += 1) {
    cipher.expand(key, NO_SALT);
    cipher.expand(saltKey, NO_SALT);
    if (round % EXPANSIONS_PER_TURN === 0) await pause();
  }
  const words = cyclicWords(Buffer.from(TEXT), TEXT.length / 4);
  for (let at = 0; at < words.length; at += 2)
    for (let round = 0; round < TEXT_ROUNDS; round += 1) cipher.encrypt(words, at);
  const out = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => out.writeUInt32BE(word >>> 0, index * 4));
  return out.subarray(0, DIGEST_BYTES);
};

export interface BcryptOptions {
  readonly cost: number;
  /** 16 random bytes. */
  readonly salt: Buffer;
  readonly pause: Pause;
}

/** `$2a$10$...`, as etcd stores passwords. */
export const bcryptHash = async (password: string, { cost, salt, pause }: BcryptOptions): Promise<string> => {
  const bytes = Buffer.from(password);
  if (bytes.length > PASSWORD_BYTES_MAX)
    throw new ReasonError('PasswordTooLong', `bcrypt: password length exceeds ${PASSWORD_BYTES_MAX} bytes`);
  const head = `$2a$${String(cost).padStart(2, '0')}$${encode(salt)}`;
  return head + encode(await digest(bytes, salt, cost, pause));
};

/** False also for a hash that is none. */
export const bcryptMatches = async (password: string, hash: string, pause: Pause): Promise<boolean> => {
  const match = FORMAT.exec(hash);
  const bytes = Buffer.from(password);
  if (match === null || bytes.length > PASSWORD_BYTES_MAX) return false;
  const [, cost, salt, expected] = match;
  const found = await digest(bytes, decode(salt!, SALT_BYTES), Number(cost), pause);
  return timingSafeEqual(found, decode(expected!, DIGEST_BYTES));
};

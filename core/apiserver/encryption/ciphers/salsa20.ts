import { assert } from '../../../base/assert.ts';

/** "expand 32-byte k" */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const ROUNDS = 20;
const BLOCK_BYTES = 64;
const WORDS = 16;

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** The 20 rounds from `from` into `x` (Salsa20 specification, section 3). Sixteen variables: an array is four times slower. */
const rounds = (from: Int32Array, x: Int32Array): void => {
  let x0 = from[0]!;
  let x1 = from[1]!;
  let x2 = from[2]!;
  let x3 = from[3]!;
  let x4 = from[4]!;
  let x5 = from[5]!;
  let x6 = from[6]!;
  let x7 = from[7]!;
  let x8 = from[8]!;
  let x9 = from[9]!;
  let x10 = from[10]!;
  let x11 = from[11]!;
  let x12 = from[12]!;
  let x13 = from[13]!;
  let x14 = from[14]!;
  let x15 = from[15]!;
  for (let round = 0; round < ROUNDS; round += 2) {
    x4 ^= rotate((x0 + x12) | 0, 7);
    x8 ^= rotate((x4 + x0) | 0, 9);
    x12 ^= rotate((x8 + x4) | 0, 13);
    x0 ^= rotate((x12 + x8) | 0, 18);
    x9 ^= rotate((x5 + x1) | 0, 7);
    x13 ^= rotate((x9 + x5) | 0, 9);
    x1 ^= rotate((x13 + x9) | 0, 13);
    x5 ^= rotate((x1 + x13) | 0, 18);
    x14 ^= rotate((x10 + x6) | 0, 7);
    x2 ^= rotate((x14 + x10) | 0, 9);
    x6 ^= rotate((x2 + x14) | 0, 13);
    x10 ^= rotate((x6 + x2) | 0, 18);
    x3 ^= rotate((x15 + x11) | 0, 7);
    x7 ^= rotate((x3 + x15) | 0, 9);
    x11 ^= rotate((x7 + x3) | 0, 13);
    x15 ^= rotate((x11 + x7) | 0, 18);
    x1 ^= rotate((x0 + x3) | 0, 7);
    x2 ^= rotate((x1 + x0) | 0, 9);
    x3 ^= rotate((x2 + x1) | 0, 13);
    x0 ^= rotate((x3 + x2) | 0, 18);
    x6 ^= rotate((x5 + x4) | 0, 7);
    x7 ^= rotate((x6 + x5) | 0, 9);
    x4 ^= rotate((x7 + x6) | 0, 13);
    x5 ^= rotate((x4 + x7) | 0, 18);
    x11 ^= rotate((x10 + x9) | 0, 7);
    x8 ^= rotate((x11 + x10) | 0, 9);
    x9 ^= rotate((x8 + x11) | 0, 13);
    x10 ^= rotate((x9 + x8) | 0, 18);
    x12 ^= rotate((x15 + x14) | 0, 7);
    x13 ^= rotate((x12 + x15) | 0, 9);
    x14 ^= rotate((x13 + x12) | 0, 13);
    x15 ^= rotate((x14 + x13) | 0, 18);
  }
  x[0] = x0;
  x[1] = x1;
  x[2] = x2;
  x[3] = x3;
  x[4] = x4;
  x[5] = x5;
  x[6] = x6;
  x[7] = x7;
  x[8] = x8;
  x[9] = x9;
  x[10] = x10;
  x[11] = x11;
  x[12] = x12;
  x[13] = x13;
  x[14] = x14;
  x[15] = x15;
};

/** The words of a key, a nonce or a block. */
const wordsInto = (state: Int32Array, at: number, bytes: Uint8Array, from: number, count: number): void => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let word = 0; word < count; word += 1) state[at + word] = view.getInt32(from + word * 4, true);
};

/** The words of the state that HSalsa20 gives out as the subkey, and where a key stands in a state. */
const SUBKEY_WORDS = [0, 5, 10, 15, 6, 7, 8, 9] as const;
const KEY_WORDS = [1, 2, 3, 4, 11, 12, 13, 14] as const;
const SIGMA_WORDS = [0, 5, 10, 15] as const;
/** Where the nonce and the counter stand. */
const INPUT_WORD = 6;
const COUNTER_WORD = 8;

/**
 * XSalsa20 with a nonce of 24 bytes: XORs `data` in place with the stream, from its first byte on. `data` is whole blocks
 * of 64 bytes: a word at a time is several times faster than a byte.
 */
export const xsalsa20 = (key: Uint8Array, nonce: Uint8Array, data: Uint8Array): void => {
  assert(data.length % BLOCK_BYTES === 0, 'a stream is whole blocks');
  const state = new Int32Array(WORDS);
  const block = new Int32Array(WORDS);
  SIGMA_WORDS.forEach((word, at) => (state[word] = SIGMA[at]!));
  wordsInto(state, 1, key, 0, 4);
  wordsInto(state, 11, key, 16, 4);
  wordsInto(state, INPUT_WORD, nonce, 0, 4);
  // HSalsa20: a key for this nonce alone.
  rounds(state, block);
  KEY_WORDS.forEach((word, at) => (state[word] = block[SUBKEY_WORDS[at]!]!));
  wordsInto(state, INPUT_WORD, nonce, 16, 2);
  state[COUNTER_WORD + 1] = 0;
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  for (let from = 0, counter = 0; from < data.length; from += BLOCK_BYTES, counter += 1) {
    // Values are a few megabytes at most, so the counter stays within its lower word.
    state[COUNTER_WORD] = counter;
    rounds(state, block);
    for (let word = 0; word < WORDS; word += 1) {
      const at = from + word * 4;
      view.setInt32(at, view.getInt32(at, true) ^ (block[word]! + state[word]!), true);
    }
  }
};

/** Room for `bytes` of a stream. */
export const streamOf = (bytes: number): Uint8Array =>
  new Uint8Array(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES);

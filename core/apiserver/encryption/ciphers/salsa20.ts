/** "expand 32-byte k" */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const ROUNDS = 20;
const BLOCK_BYTES = 64;
const WORDS = 16;

/** Four steps on four words of the state (Salsa20 specification, section 3). */
const quarter = (x: Uint32Array, a: number, b: number, c: number, d: number): void => {
  let t = (x[a]! + x[d]!) | 0;
  x[b]! ^= (t << 7) | (t >>> 25);
  t = (x[b]! + x[a]!) | 0;
  x[c]! ^= (t << 9) | (t >>> 23);
  t = (x[c]! + x[b]!) | 0;
  x[d]! ^= (t << 13) | (t >>> 19);
  t = (x[d]! + x[c]!) | 0;
  x[a]! ^= (t << 18) | (t >>> 14);
};

const rounds = (x: Uint32Array): void => {
  for (let round = 0; round < ROUNDS; round += 2) {
    quarter(x, 0, 4, 8, 12);
    quarter(x, 5, 9, 13, 1);
    quarter(x, 10, 14, 2, 6);
    quarter(x, 15, 3, 7, 11);
    quarter(x, 0, 1, 2, 3);
    quarter(x, 5, 6, 7, 4);
    quarter(x, 10, 11, 8, 9);
    quarter(x, 15, 12, 13, 14);
  }
};

const wordsOf = (bytes: Uint8Array): number[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 4 }, (_, at) => view.getUint32(at * 4, true));
};

const stateOf = (key: Uint8Array, input: Uint8Array): Uint32Array => {
  const [k, n] = [wordsOf(key), wordsOf(input)];
  return Uint32Array.of(
    ...[SIGMA[0], k[0]!, k[1]!, k[2]!, k[3]!, SIGMA[1], n[0]!, n[1]!],
    ...[n[2]!, n[3]!, SIGMA[2], k[4]!, k[5]!, k[6]!, k[7]!, SIGMA[3]],
  );
};

/** The words of the state that HSalsa20 gives out as the subkey. */
const SUBKEY_WORDS = [0, 5, 10, 15, 6, 7, 8, 9] as const;

/** HSalsa20: a key for this nonce alone. */
const subkey = (key: Uint8Array, nonce: Uint8Array): Uint8Array => {
  const state = stateOf(key, nonce);
  rounds(state);
  const out = new DataView(new ArrayBuffer(32));
  SUBKEY_WORDS.forEach((word, at) => out.setUint32(at * 4, state[word]!, true));
  return new Uint8Array(out.buffer);
};

/** XSalsa20 with a nonce of 24 bytes: XORs `data` in place with the stream, from its first byte on. */
export const xsalsa20 = (key: Uint8Array, nonce: Uint8Array, data: Uint8Array): void => {
  const input = new Uint8Array(16);
  input.set(nonce.subarray(16, 24));
  const start = stateOf(subkey(key, nonce.subarray(0, 16)), input);
  const block = new Uint32Array(WORDS);
  for (let from = 0, counter = 0; from < data.length; from += BLOCK_BYTES, counter += 1) {
    // Values are a few megabytes at most, so the counter stays within its lower word.
    start[8] = counter;
    block.set(start);
    rounds(block);
    const end = Math.min(BLOCK_BYTES, data.length - from);
    for (let at = 0; at < end; at += 1) {
      const word = (block[at >> 2]! + start[at >> 2]!) | 0;
      data[from + at]! ^= word >>> ((at & 3) * 8);
    }
  }
};

const ROUNDS = 16;
const P_WORDS = ROUNDS + 2;
const S_WORDS = 4 * 256;
const WORD_BITS = 32n;
/** Bits beyond the last word, so that rounding never reaches it. */
const GUARD_BITS = 64n;

/** arctan(1/n) in fixed point. */
const arctanInverse = (n: bigint, bits: bigint): bigint => {
  let power = (1n << bits) / n;
  let sum = power;
  for (let k = 1n; power > 0n; k += 1n) {
    power /= n * n;
    const term = power / (2n * k + 1n);
    sum += k % 2n === 0n ? term : -term;
  }
  return sum;
};

/** Blowfish begins with the fraction of pi in binary (Machin's formula), which is shorter than its 4 KiB of tables. */
const initialState = (): Uint32Array => {
  const words = P_WORDS + S_WORDS;
  const bits = BigInt(words) * WORD_BITS + GUARD_BITS;
  const pi = 4n * (4n * arctanInverse(5n, bits) - arctanInverse(239n, bits));
  const state = new Uint32Array(words);
  for (let word = 0; word < words; word += 1)
    state[word] = Number((pi >> (bits - BigInt(word + 1) * WORD_BITS)) & 0xffffffffn);
  return state;
};
let initial: Uint32Array | undefined;

/** The cipher of bcrypt: P array and S boxes in one array, changed by each expansion of a key. */
export class Blowfish {
  readonly #state: Uint32Array;

  constructor() {
    initial ??= initialState();
    this.#state = initial.slice();
  }

  /** Encrypts the two words at `at` in place. */
  encrypt(words: Uint32Array, at: number): void {
    const state = this.#state;
    let left = words[at]! ^ state[0]!;
    let right = words[at + 1]!;
    for (let round = 1; round <= ROUNDS; round += 2) {
      right ^= this.#mix(left) ^ state[round]!;
      left ^= this.#mix(right) ^ state[round + 1]!;
    }
    words[at] = right ^ state[ROUNDS + 1]!;
    words[at + 1] = left;
  }

  /** Both as words that are repeated as long as they are needed; a salt of zeros is the plain key schedule. */
  expand(key: Uint32Array, salt: Uint32Array): void {
    const state = this.#state;
    for (let word = 0; word < P_WORDS; word += 1) state[word]! ^= key[word % key.length]!;
    const block = new Uint32Array(2);
    for (let at = 0; at < state.length; at += 2) {
      block[0]! ^= salt[at % salt.length]!;
      block[1]! ^= salt[(at + 1) % salt.length]!;
      this.encrypt(block, 0);
      state[at] = block[0]!;
      state[at + 1] = block[1]!;
    }
  }

  #mix(word: number): number {
    const state = this.#state;
    const a = state[P_WORDS + (word >>> 24)]! + state[P_WORDS + 256 + ((word >>> 16) & 0xff)]!;
    return ((a ^ state[P_WORDS + 512 + ((word >>> 8) & 0xff)]!) + state[P_WORDS + 768 + (word & 0xff)]!) | 0;
  }
}

/**
 * Numbers modulo 2^130 - 5 as six limbs of 22 bits. A sum of six products, those beyond 2^132 times 20, stays below 2^53,
 * where floating point is exact.
 */
const LIMBS = 6;
const LIMB = 2 ** 22;
const LIMB_MASK = LIMB - 1;
/** 2^132 = 4 * 2^130 = 4 * 5 */
const WRAP = 20;
const BLOCK_BYTES = 16;
const TAG_BYTES = 16;
const KEY_BYTES = 16;
const MODULUS = (1n << 130n) - 5n;
const TAG_MASK = (1n << 128n) - 1n;

/** The limbs of 17 bytes, of which the last is 0 or 1. */
const readLimbs = (b: Uint8Array, limbs: Float64Array): void => {
  limbs[0] = (b[0]! | (b[1]! << 8) | (b[2]! << 16)) & LIMB_MASK;
  limbs[1] = ((b[2]! >> 6) | (b[3]! << 2) | (b[4]! << 10) | (b[5]! << 18)) & LIMB_MASK;
  limbs[2] = ((b[5]! >> 4) | (b[6]! << 4) | (b[7]! << 12) | (b[8]! << 20)) & LIMB_MASK;
  limbs[3] = ((b[8]! >> 2) | (b[9]! << 6) | (b[10]! << 14)) & LIMB_MASK;
  limbs[4] = (b[11]! | (b[12]! << 8) | (b[13]! << 16)) & LIMB_MASK;
  limbs[5] = (b[13]! >> 6) | (b[14]! << 2) | (b[15]! << 10) | (b[16]! << 18);
};

/** `h = (h + block) * r`, carried once around. */
const absorb = (h: Float64Array, block: Float64Array, r: Float64Array, wrapped: Float64Array): void => {
  const h0 = h[0]! + block[0]!;
  const h1 = h[1]! + block[1]!;
  const h2 = h[2]! + block[2]!;
  const h3 = h[3]! + block[3]!;
  const h4 = h[4]! + block[4]!;
  const h5 = h[5]! + block[5]!;
  const [r0, r1, r2, r3, r4, r5] = [r[0]!, r[1]!, r[2]!, r[3]!, r[4]!, r[5]!];
  const [w1, w2, w3, w4, w5] = [wrapped[1]!, wrapped[2]!, wrapped[3]!, wrapped[4]!, wrapped[5]!];
  const d0 = h0 * r0 + h1 * w5 + h2 * w4 + h3 * w3 + h4 * w2 + h5 * w1;
  let over = Math.floor(d0 / LIMB);
  const d1 = over + h0 * r1 + h1 * r0 + h2 * w5 + h3 * w4 + h4 * w3 + h5 * w2;
  const rest0 = d0 - over * LIMB;
  over = Math.floor(d1 / LIMB);
  h[1] = d1 - over * LIMB;
  const d2 = over + h0 * r2 + h1 * r1 + h2 * r0 + h3 * w5 + h4 * w4 + h5 * w3;
  over = Math.floor(d2 / LIMB);
  h[2] = d2 - over * LIMB;
  const d3 = over + h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * w5 + h5 * w4;
  over = Math.floor(d3 / LIMB);
  h[3] = d3 - over * LIMB;
  const d4 = over + h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * w5;
  over = Math.floor(d4 / LIMB);
  h[4] = d4 - over * LIMB;
  const d5 = over + h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0;
  over = Math.floor(d5 / LIMB);
  h[5] = d5 - over * LIMB;
  const first = rest0 + over * WRAP;
  over = Math.floor(first / LIMB);
  h[0] = first - over * LIMB;
  h[1] += over;
};

const numberOf = (limbs: Float64Array): bigint =>
  limbs.reduceRight((sum, limb) => sum * BigInt(LIMB) + BigInt(limb), 0n);

const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** The one-time authenticator of RFC 8439, section 2.5. `key` is 32 bytes and used once. */
export const poly1305 = (key: Uint8Array, data: Uint8Array): Uint8Array => {
  const block = new Uint8Array(BLOCK_BYTES + 1);
  block.set(key.subarray(0, KEY_BYTES));
  for (const at of [3, 7, 11, 15]) block[at]! &= 15;
  for (const at of [4, 8, 12]) block[at]! &= 252;
  const r = new Float64Array(LIMBS);
  readLimbs(block, r);
  const wrapped = r.map((limb) => limb * WRAP);
  const h = new Float64Array(LIMBS);
  const limbs = new Float64Array(LIMBS);
  for (let from = 0; from < data.length; from += BLOCK_BYTES) {
    const length = Math.min(BLOCK_BYTES, data.length - from);
    if (length < BLOCK_BYTES) block.fill(0);
    for (let at = 0; at < length; at += 1) block[at] = data[from + at]!;
    block[length] = 1;
    readLimbs(block, limbs);
    absorb(h, limbs, r, wrapped);
  }
  let sum = ((numberOf(h) % MODULUS) + littleEndian(key.subarray(KEY_BYTES, 2 * KEY_BYTES))) & TAG_MASK;
  const tag = new Uint8Array(TAG_BYTES);
  for (let at = 0; at < TAG_BYTES; at += 1, sum >>= 8n) tag[at] = Number(sum & 255n);
  return tag;
};

/**
 * Numbers modulo 2^130 - 5 as six limbs of 22 bits in floating point. A sum of six products, those beyond 2^132 times 20,
 * stays below 2^53, where floating point is exact.
 */
const LIMB = 2 ** 22;
const LIMB_MASK = LIMB - 1;
/** What exceeds 2^130 is worth five times as much at the bottom; the last limb has 20 bits below it. */
const TOP = 2 ** 20;
/** 2^132 = 4 * 2^130 = 4 * 5 */
const WRAP = 20;
const BLOCK_BYTES = 16;
const TAG_BYTES = 16;

/** The tag is the sum and the second half of the key modulo 2^128. `limbs` are carried, the sum is below 2^130. */
const tagOf = (limbs: readonly number[], key: DataView): Uint8Array => {
  const [h0, h1, h2, h3, h4, h5] = limbs as [number, number, number, number, number, number];
  const words = [
    (h0 | (h1 << 22)) >>> 0,
    ((h1 >>> 10) | (h2 << 12)) >>> 0,
    ((h2 >>> 20) | (h3 << 2) | (h4 << 24)) >>> 0,
    ((h4 >>> 8) | (h5 << 14)) >>> 0,
  ];
  const tag = new DataView(new ArrayBuffer(TAG_BYTES));
  let carry = 0;
  for (let at = 0; at < 4; at += 1) {
    const sum = words[at]! + key.getUint32(BLOCK_BYTES + at * 4, true) + carry;
    tag.setUint32(at * 4, sum, true);
    carry = sum >= 2 ** 32 ? 1 : 0;
  }
  return new Uint8Array(tag.buffer);
};

/** Carries all the way, and takes the modulus away where the sum reaches it. */
const reduced = (limbs: readonly number[]): number[] => {
  const h = [...limbs];
  for (let turn = 0; turn < 2; turn += 1) {
    for (let at = 0; at < 5; at += 1) {
      const over = Math.floor(h[at]! / LIMB);
      h[at]! -= over * LIMB;
      h[at + 1]! += over;
    }
    const over = Math.floor(h[5]! / TOP);
    h[5]! -= over * TOP;
    h[0]! += over * 5;
  }
  for (let at = 0; at < 5; at += 1) {
    const over = Math.floor(h[at]! / LIMB);
    h[at]! -= over * LIMB;
    h[at + 1]! += over;
  }
  const isAtModulus =
    h[5] === TOP - 1 && h[4] === LIMB_MASK && h[3] === LIMB_MASK && h[2] === LIMB_MASK && h[1] === LIMB_MASK;
  return isAtModulus && h[0]! >= LIMB - 5 ? [h[0]! - (LIMB - 5), 0, 0, 0, 0, 0] : h;
};

/** The one-time authenticator of RFC 8439, section 2.5. `key` is 32 bytes and used once. */
export const poly1305 = (key: Uint8Array, data: Uint8Array): Uint8Array => {
  const keyView = new DataView(key.buffer, key.byteOffset, key.length);
  const k0 = keyView.getUint32(0, true) & 0x0fffffff;
  const k1 = keyView.getUint32(4, true) & 0x0ffffffc;
  const k2 = keyView.getUint32(8, true) & 0x0ffffffc;
  const k3 = keyView.getUint32(12, true) & 0x0ffffffc;
  const r0 = k0 & LIMB_MASK;
  const r1 = ((k0 >>> 22) | (k1 << 10)) & LIMB_MASK;
  const r2 = ((k1 >>> 12) | (k2 << 20)) & LIMB_MASK;
  const r3 = (k2 >>> 2) & LIMB_MASK;
  const r4 = ((k2 >>> 24) | (k3 << 8)) & LIMB_MASK;
  const r5 = k3 >>> 14;
  const [w1, w2, w3, w4, w5] = [r1 * WRAP, r2 * WRAP, r3 * WRAP, r4 * WRAP, r5 * WRAP];
  let [h0, h1, h2, h3, h4, h5] = [0, 0, 0, 0, 0, 0];
  const whole = data.length - (data.length % BLOCK_BYTES);
  const last = new Uint8Array(BLOCK_BYTES);
  last.set(data.subarray(whole));
  last[data.length - whole] = 1;
  const end = whole < data.length ? whole + BLOCK_BYTES : whole;
  let view = new DataView(data.buffer, data.byteOffset, data.length);
  for (let from = 0; from < end; from += BLOCK_BYTES) {
    let at = from;
    // Of a whole block the byte after it is one; a shorter one ends in it.
    let top = 1 << 18;
    if (from === whole) {
      view = new DataView(last.buffer);
      [at, top] = [0, 0];
    }
    const b0 = view.getUint32(at, true);
    const b1 = view.getUint32(at + 4, true);
    const b2 = view.getUint32(at + 8, true);
    const b3 = view.getUint32(at + 12, true);
    h0 += b0 & LIMB_MASK;
    h1 += ((b0 >>> 22) | (b1 << 10)) & LIMB_MASK;
    h2 += ((b1 >>> 12) | (b2 << 20)) & LIMB_MASK;
    h3 += (b2 >>> 2) & LIMB_MASK;
    h4 += ((b2 >>> 24) | (b3 << 8)) & LIMB_MASK;
    h5 += (b3 >>> 14) | top;
    const d0 = h0 * r0 + h1 * w5 + h2 * w4 + h3 * w3 + h4 * w2 + h5 * w1;
    let over = Math.floor(d0 / LIMB);
    const rest0 = d0 - over * LIMB;
    const d1 = over + h0 * r1 + h1 * r0 + h2 * w5 + h3 * w4 + h4 * w3 + h5 * w2;
    over = Math.floor(d1 / LIMB);
    const rest1 = d1 - over * LIMB;
    const d2 = over + h0 * r2 + h1 * r1 + h2 * r0 + h3 * w5 + h4 * w4 + h5 * w3;
    over = Math.floor(d2 / LIMB);
    const rest2 = d2 - over * LIMB;
    const d3 = over + h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * w5 + h5 * w4;
    over = Math.floor(d3 / LIMB);
    const rest3 = d3 - over * LIMB;
    const d4 = over + h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * w5;
    over = Math.floor(d4 / LIMB);
    const rest4 = d4 - over * LIMB;
    const d5 = over + h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0;
    over = Math.floor(d5 / LIMB);
    h5 = d5 - over * LIMB;
    const first = rest0 + over * WRAP;
    over = Math.floor(first / LIMB);
    h0 = first - over * LIMB;
    h1 = rest1 + over;
    h2 = rest2;
    h3 = rest3;
    h4 = rest4;
  }
  return tagOf(reduced([h0, h1, h2, h3, h4, h5]), keyView);
};

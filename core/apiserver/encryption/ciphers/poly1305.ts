/** Numbers modulo 2^130 - 5 as ten limbs of 13 bits: every sum of products stays below 2^32. */
const LIMBS = 10;
const LIMB_BITS = 13;
const LIMB_MASK = 0x1fff;
const BLOCK_BYTES = 16;
const TAG_BYTES = 16;

const readLimbs = (bytes: Uint8Array): Uint32Array => {
  const limbs = new Uint32Array(LIMBS);
  for (let limb = 0; limb < LIMBS; limb += 1) {
    const bit = limb * LIMB_BITS;
    const at = bit >> 3;
    const word = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    limbs[limb] = (word >>> (bit & 7)) & LIMB_MASK;
  }
  return limbs;
};

/** Carries once around; the carry out of the top comes back in five times, since 2^130 = 5. */
const carry = (limbs: Uint32Array): void => {
  let over = 0;
  for (let at = 0; at < LIMBS; at += 1) {
    const sum = limbs[at]! + over;
    limbs[at] = sum & LIMB_MASK;
    over = sum >>> LIMB_BITS;
  }
  limbs[0]! += over * 5;
};

/** `h = h * r`, reduced. */
const multiply = (h: Uint32Array, r: Uint32Array, out: Uint32Array): void => {
  let over = 0;
  for (let at = 0; at < LIMBS; at += 1) {
    let sum = over;
    over = 0;
    for (let j = 0; j < LIMBS; j += 1) {
      sum += h[j]! * (j <= at ? r[at - j]! : 5 * r[at + LIMBS - j]!);
      if (j === 4) {
        over = Math.floor(sum / 0x2000);
        sum &= LIMB_MASK;
      }
    }
    over += Math.floor(sum / 0x2000);
    out[at] = sum & LIMB_MASK;
  }
  out[0]! += over * 5;
  h.set(out);
  carry(h);
};

/** The one-time authenticator of RFC 8439, section 2.5. `key` is 32 bytes and used once. */
export const poly1305 = (key: Uint8Array, data: Uint8Array): Uint8Array => {
  const clamped = Uint8Array.from(key.subarray(0, 16));
  for (const at of [3, 7, 11, 15]) clamped[at]! &= 15;
  for (const at of [4, 8, 12]) clamped[at]! &= 252;
  const r = readLimbs(clamped);
  const h = new Uint32Array(LIMBS);
  const scratch = new Uint32Array(LIMBS);
  const block = new Uint8Array(BLOCK_BYTES + 1);
  for (let from = 0; from < data.length; from += BLOCK_BYTES) {
    const part = data.subarray(from, from + BLOCK_BYTES);
    block.fill(0);
    block.set(part);
    block[part.length] = 1;
    const limbs = readLimbs(block);
    for (let at = 0; at < LIMBS; at += 1) h[at]! += limbs[at]!;
    multiply(h, r, scratch);
  }
  carry(h);
  carry(h);
  // Below the modulus: h + 5 carries out of 2^130 exactly where h is not.
  const reduced = Uint32Array.from(h);
  reduced[0]! += 5;
  let over = 0;
  for (let at = 0; at < LIMBS; at += 1) {
    const sum = reduced[at]! + over;
    reduced[at] = sum & LIMB_MASK;
    over = sum >>> LIMB_BITS;
  }
  const final = over > 0 ? reduced : h;
  const tag = new Uint8Array(TAG_BYTES);
  let [bits, value, limb, sumOver] = [0, 0, 0, 0];
  for (let at = 0; at < TAG_BYTES; at += 1) {
    while (bits < 8 && limb < LIMBS) {
      value |= final[limb]! << bits;
      bits += LIMB_BITS;
      limb += 1;
    }
    const sum = (value & 255) + key[16 + at]! + sumOver;
    tag[at] = sum & 255;
    sumOver = sum >> 8;
    value >>>= 8;
    bits -= 8;
  }
  return tag;
};

/**
 * The Huffman code of HPACK (RFC 7541, appendix B). It is canonical: the code lengths alone define it. One
 * base-36 digit for each byte from 0 to 255.
 */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6' +
  'f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';
const CODE_BITS_MAX = 30;

/** Canonical decoding: for each length, the first code of that length and where its bytes start in `ORDER`. */
const lengths = Array.from(CODE_LENGTHS, (digit) => Number.parseInt(digit, 36));
const ORDER = [...lengths.keys()].sort((a, b) => lengths[a]! - lengths[b]! || a - b);
const FIRST_CODE: number[] = [];
const FIRST_INDEX: number[] = [];
const COUNT: number[] = [];
for (let bits = 1, code = 0, index = 0; bits <= CODE_BITS_MAX; bits += 1) {
  const count = lengths.filter((length) => length === bits).length;
  FIRST_CODE[bits] = code;
  FIRST_INDEX[bits] = index;
  COUNT[bits] = count;
  code = (code + count) * 2;
  index += count;
}

/** Undefined when the bytes are no code, or end in anything but the start of the end marker (all ones). */
export const huffmanDecode = (bytes: Uint8Array): string | undefined => {
  let text = '';
  let code = 0;
  let bits = 0;
  for (const byte of bytes)
    for (let shift = 7; shift >= 0; shift -= 1) {
      code = code * 2 + ((byte >> shift) & 1);
      bits += 1;
      if (bits > CODE_BITS_MAX) return undefined;
      const offset = code - FIRST_CODE[bits]!;
      if (offset < 0 || offset >= COUNT[bits]!) continue;
      text += String.fromCharCode(ORDER[FIRST_INDEX[bits]! + offset]!);
      code = 0;
      bits = 0;
    }
  return bits < 8 && code === 2 ** bits - 1 ? text : undefined;
};

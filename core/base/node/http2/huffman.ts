/**
 * The Huffman code of HPACK (RFC 7541, appendix B). It is canonical, so the length of each byte's code says
 * everything; one base-36 digit a byte, 0 to 255.
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6' +
  'f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';

const LEAF = 0x8000;
/** Two children a node; a child with LEAF set is a byte. Node 0 is the root, so 0 means "no code". */
const buildTree = (): Uint16Array => {
  const lengths = [...LENGTHS].map((digit) => Number.parseInt(digit, 36));
  const symbols = [...lengths.keys()].sort((a, b) => lengths[a]! - lengths[b]! || a - b);
  const tree: number[] = [0, 0];
  let code = 0;
  let previous = lengths[symbols[0]!]!;
  symbols.forEach((symbol, index) => {
    const length = lengths[symbol]!;
    if (index > 0) code = (code + 1) * 2 ** (length - previous);
    previous = length;
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit -= 1) {
      const slot = node * 2 + (Math.floor(code / 2 ** bit) % 2);
      if (bit === 0) tree[slot] = LEAF | symbol;
      else {
        if (tree[slot] === 0) {
          tree[slot] = tree.length / 2;
          tree.push(0, 0);
        }
        node = tree[slot]!;
      }
    }
  });
  return Uint16Array.from(tree);
};
const TREE = buildTree();

/** Undefined when the bytes are no code, or are padded with anything but the start of the end marker. */
export const huffmanDecode = (bytes: Uint8Array): string | undefined => {
  let text = '';
  let node = 0;
  let sinceSymbol = 0;
  let onlyOnes = true;
  for (const byte of bytes) {
    for (let mask = 0x80; mask > 0; mask >>= 1) {
      const one = (byte & mask) !== 0;
      const next = TREE[node * 2 + (one ? 1 : 0)]!;
      sinceSymbol += 1;
      onlyOnes &&= one;
      if (next === 0) return undefined;
      if ((next & LEAF) === 0) node = next;
      else {
        text += String.fromCharCode(next & 0xff);
        node = 0;
        sinceSymbol = 0;
        onlyOnes = true;
      }
    }
  }
  return sinceSymbol < 8 && onlyOnes ? text : undefined;
};

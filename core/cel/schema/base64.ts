const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map(Array.from(ALPHABET, (character, value) => [character, value]));

/** Bytes of standard base64 with padding; undefined if the text is none. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  const clean = text.replace(/[\r\n]/g, '');
  if (clean.length % 4 !== 0) return undefined;
  const padding = clean.endsWith('==') ? 2 : clean.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((clean.length / 4) * 3 - padding);
  let at = 0;
  for (let start = 0; start < clean.length; start += 4) {
    let bits = 0;
    for (let index = start; index < start + 4; index++) {
      const value = index >= clean.length - padding ? 0 : VALUES.get(clean[index]!);
      if (value === undefined) return undefined;
      bits = (bits << 6) | value;
    }
    for (let shift = 16; shift >= 0 && at < bytes.length; shift -= 8) bytes[at++] = (bits >> shift) & 0xff;
  }
  return bytes;
};

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The text behind base64; what is no digit of it is passed over. */
export function decodeBase64(text: string): string {
  const bytes: number[] = [];
  let [bits, count] = [0, 0];
  for (const character of text) {
    const value = ALPHABET.indexOf(character);
    if (value < 0) continue;
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 0xff);
    bits &= (1 << count) - 1;
  }
  return new TextDecoder('utf-8').decode(new Uint8Array(bytes));
}

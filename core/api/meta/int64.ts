const INT64_TEXT = /^[-+]?[0-9]+$/;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** strconv.ParseInt(text, 10, 64): an integer above 2^53 keeps its digits. */
export function parseInt64(text: string): bigint | undefined {
  if (!INT64_TEXT.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value < INT64_MIN || value > INT64_MAX ? undefined : value;
}

export const compareInt64 = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

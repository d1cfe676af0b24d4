/** For tests: messages by hand, as a client would send them. */
const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  while (left >= 0x80n) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  return [...bytes, Number(left)];
};

export type Field = readonly [number: number, value: string | number | Uint8Array];

/** Texts and messages as bytes, numbers as varints. */
export const message = (...fields: readonly Field[]): Uint8Array =>
  Uint8Array.from(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [...varint(number * 8), ...varint(value)];
      const bytes = typeof value === 'string' ? Buffer.from(value) : value;
      return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
    }),
  );

/** The body of a request: the magic, and the object in its envelope. */
export const protobufBody = (apiVersion: string, kind: string, object: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from('k8s\0'), message([1, message([1, apiVersion], [2, kind])], [2, object])]);

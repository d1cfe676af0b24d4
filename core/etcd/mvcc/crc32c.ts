/** CRC-32C (Castagnoli), as etcd hashes its keys with. Eight tables: eight bytes a step. */
const POLYNOMIAL = 0x82f63b78;

const TABLES: readonly Int32Array[] = (() => {
  const tables = Array.from({ length: 8 }, () => new Int32Array(256));
  const first = tables[0] as Int32Array;
  for (let i = 0; i < 256; i += 1) {
    let crc = i;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    first[i] = crc;
  }
  for (let t = 1; t < 8; t += 1) {
    const table = tables[t] as Int32Array;
    const previous = tables[t - 1] as Int32Array;
    for (let i = 0; i < 256; i += 1) {
      const crc = previous[i] as number;
      table[i] = (crc >>> 8) ^ (first[crc & 255] as number);
    }
  }
  return tables;
})();

const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** Goes on from `seed`, the checksum of what came before. */
export const crc32c = (bytes: Uint8Array, seed = 0): number => {
  let crc = ~seed;
  let i = 0;
  const wide = bytes.length - 7;
  for (; i < wide; i += 8) {
    const low = crc ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
    crc =
      T7[low & 255]! ^
      T6[(low >>> 8) & 255]! ^
      T5[(low >>> 16) & 255]! ^
      T4[low >>> 24]! ^
      T3[bytes[i + 4]!]! ^
      T2[bytes[i + 5]!]! ^
      T1[bytes[i + 6]!]! ^
      T0[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; i += 1) crc = (crc >>> 8) ^ T0[(crc ^ bytes[i]!) & 255]!;
  return ~crc >>> 0;
};

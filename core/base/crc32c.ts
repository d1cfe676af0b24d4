/** CRC-32 with Castagnoli's polynomial, reflected: the checksum of etcd's hashes and snapshot status. */
const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;
const TABLE_SIZE = 256;

/** Slicing-by-8: table k advances a byte that has k more bytes of its group behind it. */
const TABLES: readonly Uint32Array[] = (() => {
  const tables = Array.from({ length: SLICES }, () => new Uint32Array(TABLE_SIZE));
  for (let byte = 0; byte < TABLE_SIZE; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[0]![byte] = crc;
  }
  for (let slice = 1; slice < SLICES; slice += 1) {
    for (let byte = 0; byte < TABLE_SIZE; byte += 1) {
      const previous = tables[slice - 1]![byte]!;
      tables[slice]![byte] = (previous >>> 8) ^ tables[0]![previous & 0xff]!;
    }
  }
  return tables;
})();

const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];

/** Continues `crc` (0 to start) over `bytes`; the result is again both, so calls chain. */
export const crc32c = (crc: number, bytes: Uint8Array): number => {
  let state = ~crc;
  let i = 0;
  for (const end = bytes.length - SLICES; i <= end; i += SLICES) {
    state ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    state =
      T7[state & 0xff]! ^
      T6[(state >>> 8) & 0xff]! ^
      T5[(state >>> 16) & 0xff]! ^
      T4[state >>> 24]! ^
      T3[bytes[i + 4]!]! ^
      T2[bytes[i + 5]!]! ^
      T1[bytes[i + 6]!]! ^
      T0[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; i += 1) state = T0[(state ^ bytes[i]!) & 0xff]! ^ (state >>> 8);
  return ~state >>> 0;
};

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32c } from './crc32c.ts';

test('the check value of the CRC catalogue comes out', () => {
  expect(crc32c(0, Buffer.from('123456789'))).toBe(0xe3069283);
});

test('RFC 3720 vectors come out', () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, i) => i);
  expect([
    crc32c(0, new Uint8Array(32)),
    crc32c(0, new Uint8Array(32).fill(255)),
    crc32c(0, ascending),
  ]).toEqual([0x8a9136aa, 0x62a8ab43, 0x46dd794e]);
});

test('a checksum does not depend on how the bytes are cut', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, cut) => {
      const at = Math.min(cut, bytes.length);
      expect(crc32c(crc32c(0, bytes.subarray(0, at)), bytes.subarray(at))).toBe(crc32c(0, bytes));
    }),
  );
});

import fc from 'fast-check';
import protobuf from 'protobufjs/minimal.js';
import { expect, test } from 'vitest';
import { ReasonError } from '../../base/errors.ts';
import { keyOfKeyValue } from './key-value.ts';

test('the key of every encoded KeyValue is found', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(),
      (key, value, number) => {
        const writer = protobuf.Writer.create();
        writer.uint32(10).bytes(key);
        for (const tag of [16, 24, 32]) writer.uint32(tag).int64(number);
        writer.uint32(42).bytes(value).uint32(48).int64(-1);
        expect(keyOfKeyValue(Buffer.from(writer.finish()), 1).equals(key)).toBe(true);
      },
    ),
  );
});

test('a KeyValue without a key, as a bumped revision has it, has the empty key', () => {
  expect(keyOfKeyValue(Buffer.alloc(0), 1)).toEqual(Buffer.alloc(0));
});

test.each([
  ['a length past the end', [0x0a, 5, 1], /revision 7: field 1 of its KeyValue is cut off/],
  ['a varint without an end', [0x10, 0xff], /broken varint/],
  ['a varint of eleven bytes', [0x10, ...Array<number>(11).fill(0xff)], /broken varint/],
  ['field zero', [0x00, 1], /field 0/],
  ['a group', [0x0b], /wire type 3/],
  ['a fixed number cut off', [0x09, 1, 2], /cut off/],
])('%s is refused', (_what, bytes, message) => {
  expect(() => keyOfKeyValue(Buffer.from(bytes), 7)).toThrowError(message);
});

test('arbitrary bytes end in a key or a refusal', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        return keyOfKeyValue(Buffer.from(bytes), 1).length <= bytes.length;
      } catch (error) {
        return error instanceof ReasonError;
      }
    }),
  );
});

import { expect, test } from 'vitest';
import { StatelessHpackDecoder } from './hpack.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('the examples of RFC 7541 are decoded', () => {
  const decoder = new StatelessHpackDecoder();
  // C.2.1 to C.2.4 and the first request of C.4, which fit an empty table.
  expect([
    ...decoder.decode(hex('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572')),
  ]).toEqual([['custom-key', 'custom-header']]);
  expect([...decoder.decode(hex('040c 2f73 616d 706c 652f 7061 7468'))]).toEqual([[':path', '/sample/path']]);
  expect([...decoder.decode(hex('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff'))]).toEqual([
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ]);
});

test.each([
  ['an index of the table that was to stay empty', 'be'],
  ['a table that is made larger', '3f e1 1f'],
  ['a string that runs over the block', '00 0a 61'],
  ['an integer without end', '7f ff ff ff ff ff'],
])('%s breaks the connection', (_what, block) => {
  expect(() => new StatelessHpackDecoder().decode(hex(block))).toThrow(/^hpack: /);
});

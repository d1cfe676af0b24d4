import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createServer as createNetServer } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FRAME, FRAME_HEADER_BYTES, PREFACE } from './frame.ts';
import { HpackDecoder, HpackError, encodeHeaders } from './hpack.ts';
import { huffmanDecode } from './huffman.ts';

const LIST_BYTES_MAX = 64 * 1024;
const decode = (block: Uint8Array) => new HpackDecoder({ listBytesMax: LIST_BYTES_MAX }).decode(block);
const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex');

test('Huffman strings of RFC 7541 are read', () => {
  expect([
    huffmanDecode(hex('f1e3 c2e5 f23a 6ba0 ab90 f4ff')),
    huffmanDecode(hex('a8eb 1064 9cbf')),
    huffmanDecode(hex('d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff')),
  ]).toEqual(['www.example.com', 'no-cache', 'Mon, 21 Oct 2013 20:13:21 GMT']);
});

test('three requests of RFC 7541 (appendix C.4) are read with the table they build', () => {
  const decoder = new HpackDecoder({ listBytesMax: LIST_BYTES_MAX });
  const blocks = [
    '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
    '8286 84be 5886 a8eb 1064 9cbf',
    '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
  ];
  const texts = blocks.map((block) =>
    decoder.decode(hex(block)).map(({ name, value }) => `${name}: ${value}`),
  );
  expect(texts).toEqual([
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
    [
      ':method: GET',
      ':scheme: https',
      ':path: /index.html',
      ':authority: www.example.com',
      'custom-key: custom-value',
    ],
  ]);
});

test('the table forgets its oldest entries at 4096 bytes, and an index beyond it is an error', () => {
  const decoder = new HpackDecoder({ listBytesMax: LIST_BYTES_MAX });
  const literal = (value: string) =>
    Buffer.concat([Buffer.from([0x40, 1, 0x61, value.length]), Buffer.from(value)]);
  // 1 + 100 + 32 bytes each: 30 fit.
  for (let index = 0; index < 40; index += 1) decoder.decode(literal(String(index).padStart(100, '0')));
  const oldest = decoder.decode(Buffer.from([0x80 | 91]));
  expect(Number(oldest[0]!.value)).toBe(10);
  expect(() => decoder.decode(Buffer.from([0x80 | 92]))).toThrow(HpackError);
});

test('a list that grows from few bytes is stopped at the limit', () => {
  const decoder = new HpackDecoder({ listBytesMax: 1000 });
  const value = Buffer.alloc(100, 'v');
  decoder.decode(Buffer.concat([Buffer.from([0x40, 1, 0x61, 100]), value]));
  expect(() => decoder.decode(Buffer.alloc(50, 0x80 | 62))).toThrow('header list is too large');
});

test('any bytes are headers or an HpackError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decode(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(HpackError);
      }
    }),
    { numRuns: 2000 },
  );
});

test('encoded values decode to the same values', () => {
  const name = fc.stringMatching(/^[a-z:-]{1,20}$/);
  const value = fc.stringMatching(/^[ -~]{0,300}$/);
  fc.assert(
    fc.property(fc.array(fc.record({ name, value }), { maxLength: 10 }), (fields) => {
      expect(decode(encodeHeaders(fields))).toEqual(fields);
    }),
  );
});

/** What another implementation's encoder makes of headers: the first HEADERS frame that Node's client sends. */
const headerBlockOfNode = (headers: Record<string, string>): Promise<Buffer> =>
  new Promise((resolve) => {
    const server = createNetServer((socket) => {
      let received = Buffer.alloc(0);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        for (let at = PREFACE.length; at + FRAME_HEADER_BYTES <= received.length;) {
          const end = at + FRAME_HEADER_BYTES + received.readUIntBE(at, 3);
          if (received[at + 3] === FRAME.headers && end <= received.length) {
            resolve(received.subarray(at + FRAME_HEADER_BYTES, end));
            session.destroy();
            server.close();
            return;
          }
          at = end;
        }
      });
    });
    let session: ReturnType<typeof connect>;
    server.listen(0, '127.0.0.1', () => {
      session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      session.on('error', () => undefined);
      session.request(headers).on('error', () => undefined);
    });
  });

test("Node's own encoder is understood, every printable character included", async () => {
  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
  const block = await headerBlockOfNode({ ':path': '/a', 'x-text': `x${printable}x` });
  expect(decode(block).find(({ name }) => name === 'x-text')?.value).toBe(`x${printable}x`);
});

test('padding that is not the start of the end marker is no Huffman code', () => {
  expect([huffmanDecode(hex('1f')), huffmanDecode(hex('18')), huffmanDecode(hex('1fff'))]).toEqual([
    'a',
    undefined,
    undefined,
  ]);
});

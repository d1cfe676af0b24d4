import net from 'node:net';
import { once } from 'node:events';
import { constants, createDeflate } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { SpdyClient } from '../testing/spdy-client.ts';
import { SPDY_DICTIONARY } from './dictionary.ts';
import { dataFrame, FrameReader, ping, rstStream } from './frames.ts';
import { HeaderDecoder, HeaderEncoder } from './header-block.ts';
import { SpdyConnection, type SpdyStream } from './spdy-connection.ts';

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

/** A client and what the server sees, over a real socket. */
const connected = async (onStream: (stream: SpdyStream) => boolean | void) => {
  const server = net.createServer((socket) => void new SpdyConnection(socket, { onStream }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  const client = new SpdyClient(socket);
  closers.push(() => {
    client.close();
    server.close();
  });
  return client;
};

test('the dictionary is the one of the draft', () => {
  expect(SPDY_DICTIONARY.length).toBe(1423);
  expect(SPDY_DICTIONARY.subarray(0, 11)).toEqual(Buffer.from('\0\0\0\x07options', 'latin1'));
});

test('frames are cut from any pieces of bytes', () => {
  const bytes = Buffer.concat([ping(7), dataFrame(1, Buffer.from('hello'), true), rstStream(3, 5)]);
  const reader = new FrameReader();
  const frames = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte])));
  expect(frames).toMatchObject([
    { frame: 'control', type: 6 },
    { frame: 'data', streamId: 1, isLast: true, payload: Buffer.from('hello') },
    { frame: 'control', type: 3 },
  ]);
});

test('a frame that is too long, or of another version, is refused', () => {
  expect(() => new FrameReader().push(Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]))).toThrow('too long');
  expect(() => new FrameReader().push(Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0]))).toThrow('version 2');
});

test('headers that zlib has compressed with the dictionary are read, block after block', async () => {
  const deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  const chunks: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => chunks.push(chunk));
  const compress = async (block: Buffer): Promise<Buffer> => {
    chunks.length = 0;
    deflate.write(block);
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, () => setImmediate(resolve)));
    return Buffer.concat(chunks);
  };
  const plain = (name: string, value: string): Buffer => {
    const bytes = Buffer.alloc(12 + name.length + value.length);
    bytes.writeUInt32BE(1, 0);
    bytes.writeUInt32BE(name.length, 4);
    bytes.write(name, 8);
    bytes.writeUInt32BE(value.length, 8 + name.length);
    bytes.write(value, 12 + name.length);
    return bytes;
  };
  const decoder = new HeaderDecoder();
  expect(await decoder.decode(await compress(plain('streamtype', 'stdin')))).toEqual(
    new Map([['streamtype', 'stdin']]),
  );
  expect(await decoder.decode(await compress(plain('Port', '8080')))).toEqual(new Map([['port', '8080']]));
  decoder.close();
});

test('zlib decompresses the output of the encoder', async () => {
  const encoder = new HeaderEncoder();
  const decoder = new HeaderDecoder();
  for (const headers of [
    new Map([['A', '1']]),
    new Map<string, string>(),
    new Map([['b', 'x'.repeat(5000)]]),
  ])
    expect(await decoder.decode(encoder.encode(headers))).toEqual(
      new Map([...headers].map(([name, value]) => [name.toLowerCase(), value])),
    );
  decoder.close();
});

test('every block ends with an empty one, which Go’s reader waits for', () => {
  const encoder = new HeaderEncoder();
  const ends = [1, 2].map(() => encoder.encode(new Map([['a', '1']])).subarray(-5));
  expect(ends).toEqual([Buffer.from('000000ffff', 'hex'), Buffer.from('000000ffff', 'hex')]);
});

test('a stream echoes until both sides have ended it', async () => {
  const client = await connected((stream) => void stream.pipe(stream));
  const id = await client.open({ streamtype: 'data' });
  const large = 'x'.repeat(300_000);
  client.send(id, large);
  client.send(id, '!', true);
  await client.until(() => client.stream(id).isEnded);
  expect(client.stream(id)).toMatchObject({ text: `${large}!`, isReplied: true, isReset: false });
});

test('a refused stream is reset, the others continue, and pings are answered', async () => {
  const client = await connected((stream) => {
    if (stream.headers.get('streamtype') === 'bad') return false;
    stream.pipe(stream);
    return true;
  });
  const bad = await client.open({ streamtype: 'bad' });
  const good = await client.open({ streamtype: 'good' });
  client.ping(5);
  client.send(good, 'still here', true);
  await client.until(
    () => client.stream(good).isEnded && client.stream(bad).isReset && client.pings.length > 0,
  );
  expect([client.stream(good).text, client.pings]).toEqual(['still here', [5]]);
});

test('bytes that are no SPDY end the connection', async () => {
  const server = net.createServer((socket) => void new SpdyConnection(socket, { onStream: () => true }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('\xff\xff\xff\xff\xff\xff\xff\xff');
  await once(socket, 'close');
  server.close();
});

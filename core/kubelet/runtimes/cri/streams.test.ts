import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { SpdyConnection, type SpdyStream } from '../../spdy/spdy-connection.ts';
import { openCommand, openForward } from './streams.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** Streams as a container runtime serves them. */
const serving = async (
  serve: (stream: SpdyStream, all: Map<string, SpdyStream>) => void,
): Promise<string> => {
  const server = http.createServer((_request, response) => response.writeHead(403).end());
  server.on('upgrade', (request, socket, head) => {
    const protocol = String(request.headers['x-stream-protocol-version']);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    const all = new Map<string, SpdyStream>();
    const connection = new SpdyConnection(
      socket,
      {
        onStream: (stream) => {
          all.set(stream.headers.get('streamtype') ?? '', stream);
          serve(stream, all);
        },
      },
      head,
    );
    closing.push(() => connection.close());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token`;
};

test('output and exit code arrive although the runtime resets everything as soon as it has said them', async () => {
  const url = await serving((stream, all) => {
    if (stream.headers.get('streamtype') !== 'stdin') return;
    stream.on('data', (chunk: Buffer) => void all.get('stdout')!.write(`got ${chunk.toString()}`));
    stream.once('end', () => {
      const status = { status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: '5' }] } };
      all.get('error')!.write(JSON.stringify(status), () => {
        for (const one of all.values()) one.destroy();
      });
    });
  });
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const session = await openCommand(url, { tty: false, stdin, stdout });
  // The server knows the streams in the order in which they are opened: stdin comes before stdout.
  stdin.end('typed');
  expect(await session.exitCode).toBe(5);
  expect(String(stdout.read())).toBe('got typed');
});

test('a runtime that refuses a stream is quoted', async () => {
  const server = http.createServer((_request, response) => response.writeHead(404).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token`;
  await expect(openCommand(url, { tty: false })).rejects.toThrow(
    'unable to upgrade connection: 404 Not Found',
  );
  await expect(openCommand('https://127.0.0.1:1/', { tty: false })).rejects.toThrow('are not supported');
});

test('a forwarded port carries bytes both ways, and a refused one says why', async () => {
  const url = await serving((stream, all) => {
    if (stream.headers.get('streamtype') !== 'data') return;
    if (stream.headers.get('port') === '1') {
      all.get('error')!.end('connection refused');
      return;
    }
    stream.pipe(stream);
  });
  const open = await openForward(url, 80);
  open.end('echo');
  const chunks: Buffer[] = [];
  for await (const chunk of open as AsyncIterable<Buffer>) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('echo');
  const refused = await openForward(url, 1);
  const [error] = (await once(refused, 'error')) as [Error];
  expect(error.message).toBe('connection refused');
});

import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openGrpcSession, type GrpcSession } from './session.ts';
import { unaryCall } from './unary-call.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

const serving = async (answer: (stream: ServerHttp2Stream) => void): Promise<GrpcSession> => {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.resume();
    answer(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const session = openGrpcSession(connect(port, '127.0.0.1'), '127.0.0.1', 'http');
  closing.push(
    () => session.close('the test is over'),
    () => server.close(),
  );
  return session;
};

const telling =
  (status: string, body: Buffer) =>
  (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': 'a%20b' }));
    stream.end(body);
  };
const framed = (text: string): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
};
const ask = (session: GrpcSession, signal?: AbortSignal) =>
  unaryCall(session, {
    path: '/a.B/C',
    message: Buffer.from('x'),
    answerBytesMax: 64,
    ...(signal && { signal }),
  });

test('every end of a call is an answer', async () => {
  const ok = await ask(await serving(telling('0', framed('yes'))));
  expect([ok.status, ok.message?.toString(), ok.isTooLarge]).toEqual([0, 'yes', false]);
  const denied = await ask(await serving(telling('7', Buffer.alloc(0))));
  expect([denied.status, denied.text, denied.message]).toEqual([7, 'a b', undefined]);
  const cut = await ask(await serving(telling('0', framed('yes').subarray(0, 6))));
  expect([cut.status, cut.message]).toEqual([0, undefined]);
  const large = await ask(await serving(telling('0', framed('y'.repeat(100)))));
  expect([large.status, large.isTooLarge, large.message]).toEqual([undefined, true, undefined]);
  const lost = await ask(await serving((stream) => stream.session?.destroy()));
  expect(lost.status).toBeUndefined();
});

test('a call that is given up ends', async () => {
  const over = new AbortController();
  const answer = ask(await serving(() => over.abort()), over.signal);
  expect((await answer).status).toBeUndefined();
});

import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { encodeHeaders } from '../http2/hpack.ts';
import { FLAG, FRAME, frame } from '../http2/frame.ts';
import { framed, MESSAGE_HEAD_BYTES, type GrpcEnd } from './call.ts';
import { serverStream } from './server-stream.ts';
import { openGrpcSession } from './session.ts';

const MESSAGE_BYTES = 16_000;
const STREAM_ID = 1;

/** A server's end of a connection: what the client sent, and a way to answer. */
class Wire extends Duplex {
  sent: Buffer = Buffer.alloc(0);
  override _read(): void {}
  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.sent = Buffer.concat([this.sent, bytes]);
    done();
  }

  /** Frames of a type on the stream so far. */
  count(type: number): number {
    let count = 0;
    for (let at = 24; at + 9 <= this.sent.length; at += 9 + this.sent.readUIntBE(at, 3))
      if (this.sent[at + 3] === type && this.sent.readUInt32BE(at + 5) === STREAM_ID) count += 1;
    return count;
  }

  head(): void {
    const head = encodeHeaders([{ name: ':status', value: '200' }]);
    this.push(frame(FRAME.headers, FLAG.endHeaders, STREAM_ID, head));
  }
  message(): void {
    const message = framed(Buffer.alloc(MESSAGE_HEAD_BYTES + MESSAGE_BYTES, 'x'));
    this.push(frame(FRAME.data, 0, STREAM_ID, message));
  }
  close(): void {
    const trailers = encodeHeaders([{ name: 'grpc-status', value: '0' }]);
    this.push(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, STREAM_ID, trailers));
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const open = async () => {
  const wire = new Wire();
  const session = openGrpcSession(wire, 'etcd', 'http');
  const request = {
    path: '/a.B/C',
    message: Buffer.from('q'),
    messageBytesMax: 64 * 1024,
    silenceMsMax: 60_000,
  };
  const messages = serverStream(session, request);
  const first = messages.next();
  for (let at = 0; at < 3; at += 1) await turn();
  wire.head();
  wire.message();
  expect((await first).value).toHaveLength(MESSAGE_BYTES);
  return { wire, messages, session };
};

test('a server sends no more than the window while nothing is read', async () => {
  const { wire, messages, session } = await open();
  const sent = 4 * 1024 * 1024;
  const count = Math.floor(sent / MESSAGE_BYTES);
  for (let at = 0; at < count; at += 1) wire.message();
  for (let at = 0; at < 3; at += 1) await turn();
  expect(wire.count(FRAME.windowUpdate)).toBe(0);
  for (let at = 0; at < count; at += 1) await messages.next();
  await turn();
  expect(wire.count(FRAME.windowUpdate)).toBe(1);
  wire.close();
  expect(await messages.next()).toEqual({ done: true, value: { kind: 'status', code: 0, text: '' } });
  session.close('the test is over');
});

test('leaving early tells the server', async () => {
  const { wire, messages, session } = await open();
  await messages.return({ kind: 'lost', why: 'enough', untouched: false } satisfies GrpcEnd);
  await turn();
  expect(wire.count(FRAME.resetStream)).toBe(1);
  session.close('the test is over');
});

test('a lost connection ends the call', async () => {
  const { messages, session } = await open();
  const next = messages.next();
  session.close('gone');
  expect(await next).toEqual({ done: true, value: { kind: 'lost', why: 'gone', untouched: false } });
});

import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock, type ManualClock } from '../../../manual-clock.ts';
import { Http2Connection } from './connection.ts';
import {
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  H2_ERROR,
  PREFACE,
  SETTING,
  STREAM_ID_MAX,
  frame,
  settingsPayload,
  uint32Payload,
} from '../frame.ts';
import { encodeHeaders } from '../hpack.ts';
import { StallBudget } from './stall-budget.ts';
import type { Http2Stream } from './stream.ts';

/** A wire whose other end is the test: what the server writes is collected, what it reads is pushed. */
class Wire extends Duplex {
  written = Buffer.alloc(0);
  stalled: (() => void) | undefined;
  stall = false;

  override _read(): void {}
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written = Buffer.concat([this.written, chunk]);
    if (this.stall) this.stalled = done;
    else done();
  }
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}
const framesOf = (bytes: Buffer): Frame[] => {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
    const payload = bytes.subarray(at + FRAME_HEADER_BYTES, end);
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      streamId: bytes.readUInt32BE(at + 5),
      payload,
    });
    at = end;
  }
  return frames;
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const HEAD = encodeHeaders([{ name: ':status', value: '200' }]);
const TRAILERS = encodeHeaders([{ name: 'grpc-status', value: '0' }]);
const REQUEST = encodeHeaders([
  { name: ':method', value: 'POST' },
  { name: ':path', value: '/a' },
]);
const hello = (settings: readonly (readonly [number, number])[] = []): Buffer =>
  Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, settingsPayload(settings))]);
const open = (streamId: number, flags: number = FLAG.endHeaders | FLAG.endStream): Buffer =>
  frame(FRAME.headers, flags, streamId, REQUEST);

const start = (options: { streamsMax?: number; budget?: StallBudget; clock?: ManualClock } = {}) => {
  const wire = new Wire();
  const streams: Http2Stream[] = [];
  const events: string[] = [];
  const idles: number[] = [];
  const { clock = manualClock() } = options;
  const connection = new Http2Connection(wire, {
    streamsMax: options.streamsMax ?? 100,
    streamWindowBytes: 1024 * 1024,
    headerListBytesMax: 64 * 1024,
    onStream(stream) {
      streams.push(stream);
      stream.owner = {
        onData: (bytes) => events.push(`data ${stream.id} ${bytes.length}`),
        onEnd: () => events.push(`end ${stream.id}`),
        onDrain: () => events.push(`drain ${stream.id}`),
        onClosed: (how) => events.push(`closed ${stream.id} ${how}`),
      };
    },
    onIdle: () => idles.push(streams.length),
    onClosed: () => events.push('connection closed'),
    clock,
    stallTimeoutMs: 1000,
    ...(options.budget && { budget: options.budget }),
  });
  const receive = async (...chunks: Buffer[]): Promise<Frame[]> => {
    const before = wire.written.length;
    for (const chunk of chunks) wire.push(chunk);
    await turn();
    return framesOf(wire.written.subarray(before));
  };
  return { wire, clock, connection, streams, events, idles, receive };
};
const NOTHING = Buffer.alloc(0);
/** The same frame many times, each for a stream of its own where it asks for one. */
const flood = (make: (streamId: number) => Buffer, count = 6000): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, n) => make(2 * n + 1)));
const goawayCode = (frames: readonly Frame[]): number | undefined =>
  frames.find(({ type }) => type === FRAME.goaway)?.payload.readUInt32BE(4);

test('an answer leaves as headers, data and trailers', async () => {
  const { receive, streams } = start();
  await receive(hello(), open(1));
  streams[0]!.answer(HEAD, Buffer.from('hi'), TRAILERS);
  const frames = await receive();
  expect(frames.map(({ type, flags, payload }) => [type, flags, payload.toString('hex')])).toEqual([
    [FRAME.headers, FLAG.endHeaders, HEAD.toString('hex')],
    [FRAME.data, 0, '6869'],
    [FRAME.headers, FLAG.endHeaders | FLAG.endStream, TRAILERS.toString('hex')],
  ]);
});

test('frames cut at any byte are the same frames', async () => {
  const { receive, events } = start();
  const bytes = Buffer.concat([
    hello(),
    open(1, FLAG.endHeaders),
    frame(FRAME.data, FLAG.endStream, 1, Buffer.alloc(7)),
  ]);
  await receive(...Array.from(bytes, (byte) => Buffer.from([byte])));
  expect(events).toEqual(['data 1 7', 'end 1']);
});

test('data waits for the window of the stream and continues when it opens', async () => {
  const { receive, streams, events } = start();
  await receive(hello([[SETTING.initialWindowSize, 10]]), open(1));
  const stream = streams[0]!;
  stream.sendHeaders(HEAD);
  stream.sendData(Buffer.alloc(25));
  stream.end(TRAILERS);
  const sent = (frames: readonly Frame[]) => frames.map(({ type, payload }) => `${type}:${payload.length}`);
  expect(sent(await receive())).toEqual([`1:${HEAD.length}`, '0:10']);
  expect(sent(await receive(frame(FRAME.windowUpdate, 0, 1, uint32Payload(14))))).toEqual(['0:14']);
  expect(stream.queuedBytes).toBe(1);
  expect(sent(await receive(frame(FRAME.windowUpdate, 0, 1, uint32Payload(14))))).toEqual([
    '0:1',
    `1:${TRAILERS.length}`,
  ]);
  expect(events).toContain('closed 1 done');
});

test('a smaller initial window takes back what streams had, below zero if need be', async () => {
  const { receive, streams } = start();
  await receive(hello([[SETTING.initialWindowSize, 100]]), open(1));
  streams[0]!.sendData(Buffer.alloc(80));
  await receive();
  await receive(frame(FRAME.settings, 0, 0, settingsPayload([[SETTING.initialWindowSize, 10]])));
  streams[0]!.sendData(Buffer.alloc(5));
  expect(await receive(frame(FRAME.windowUpdate, 0, 1, uint32Payload(70)))).toEqual([]);
  expect(await receive(frame(FRAME.windowUpdate, 0, 1, uint32Payload(5)))).toHaveLength(1);
});

test('large answers of two streams take turns', async () => {
  const { receive, streams } = start();
  await receive(hello([[SETTING.initialWindowSize, 1_000_000]]), open(1), open(3));
  for (const stream of streams) stream.sendData(Buffer.alloc(100_000));
  await receive();
  const frames = await receive(frame(FRAME.windowUpdate, 0, 0, uint32Payload(1_000_000)));
  const order = frames.filter(({ type }) => type === FRAME.data).map(({ streamId }) => streamId);
  expect(new Set(order.slice(0, 4))).toEqual(new Set([1, 3]));
});

test('a socket that does not drain stops data, and its drain lets it continue', async () => {
  const { wire, receive, streams } = start();
  await receive(
    hello([[SETTING.initialWindowSize, 0x7fffffff]]),
    open(1),
    frame(FRAME.windowUpdate, 0, 0, uint32Payload(0x7fff0000)),
  );
  wire.stall = true;
  const total = 2_000_000;
  streams[0]!.sendData(Buffer.alloc(total));
  await turn();
  const stalledAt = wire.written.length;
  expect(streams[0]!.queuedBytes).toBeGreaterThan(total - 600_000);
  wire.stall = false;
  wire.stalled?.();
  for (let turns = 0; turns < 50; turns += 1) await turn();
  expect(wire.written.length - stalledAt).toBeGreaterThan(total - 600_000);
  expect(streams[0]!.queuedBytes).toBe(0);
});

test('credit is given back as the owner takes bytes, and a peer without credit is reset', async () => {
  const { receive, streams, events } = start();
  await receive(hello(), open(1, FLAG.endHeaders));
  const piece = frame(FRAME.data, 0, 1, Buffer.alloc(16_384));
  const pieces = (count: number): Buffer[] => Array.from({ length: count }, () => piece);
  expect(await receive(...pieces(40))).toEqual([]);
  streams[0]!.consume(40 * 16_384);
  expect((await receive()).map(({ type, payload }) => [type, payload.readUInt32BE(0)])).toEqual([
    [FRAME.windowUpdate, 40 * 16_384],
  ]);
  await receive(...pieces(65));
  expect(events.at(-1)).toBe('closed 1 reset');
});

test('streams beyond the limit are refused, the rest continues', async () => {
  const { receive, streams } = start({ streamsMax: 2 });
  const frames = await receive(hello(), open(1), open(3), open(5));
  const resets = frames.filter(({ type }) => type === FRAME.resetStream);
  expect(resets.map(({ streamId, payload }) => [streamId, payload.readUInt32BE(0)])).toEqual([
    [5, H2_ERROR.refusedStream],
  ]);
  expect(streams.map(({ id }) => id)).toEqual([1, 3]);
});

test('a stream that ends others while it drains does not trip over them', async () => {
  const { receive, streams } = start();
  await receive(hello([[SETTING.initialWindowSize, 1_000_000]]), open(1), open(3));
  const [first, second] = streams;
  for (const stream of streams) stream.sendData(Buffer.alloc(100_000));
  first!.owner!.onDrain = () => second!.reset();
  const frames = await receive(frame(FRAME.windowUpdate, 0, 0, uint32Payload(1_000_000)));
  expect(frames.filter(({ type, streamId }) => type === FRAME.data && streamId === 3)).toEqual([]);
  expect(first!.queuedBytes).toBe(0);
});

test('an answer before the end of the request tells the client to stop sending', async () => {
  const { receive, streams } = start();
  await receive(hello(), open(1, FLAG.endHeaders));
  streams[0]!.end(TRAILERS);
  const frames = await receive();
  expect(frames.map(({ type }) => type)).toEqual([FRAME.headers, FRAME.resetStream]);
  expect(await receive(frame(FRAME.data, 0, 1, Buffer.alloc(10)))).toEqual([]);
});

test('pings are answered with their bytes', async () => {
  const { receive } = start();
  await receive(hello());
  const [pong] = await receive(frame(FRAME.ping, 0, 0, Buffer.from('12345678')));
  expect([pong!.flags, pong!.payload.toString()]).toEqual([FLAG.ack, '12345678']);
});

test.each<readonly [string, Buffer[], number]>([
  ['a frame above the limit', [Buffer.from([0, 0x40, 1, 0, 0, 0, 0, 0, 1])], H2_ERROR.frameSizeError],
  [
    'data on a stream that was never opened',
    [frame(FRAME.data, 0, 9, Buffer.alloc(1))],
    H2_ERROR.protocolError,
  ],
  ['an even stream id', [open(2)], H2_ERROR.protocolError],
  ['a stream id used before', [open(3), open(1)], H2_ERROR.streamClosed],
  [
    'a header block cut by another frame',
    [frame(FRAME.headers, 0, 1, REQUEST), frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    H2_ERROR.protocolError,
  ],
  [
    'headers that are no HPACK',
    [frame(FRAME.headers, FLAG.endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))],
    H2_ERROR.compressionError,
  ],
  [
    'padding longer than its frame',
    [open(1, FLAG.endHeaders), frame(FRAME.data, FLAG.padded, 1, Buffer.from([9, 0]))],
    H2_ERROR.protocolError,
  ],
  [
    'a window that overflows',
    [frame(FRAME.windowUpdate, 0, 0, uint32Payload(0x7fffffff))],
    H2_ERROR.flowControlError,
  ],
  ['a push', [frame(FRAME.pushPromise, FLAG.endHeaders, 1, REQUEST)], H2_ERROR.protocolError],
  ['settings of odd length', [frame(FRAME.settings, 0, 0, Buffer.alloc(5))], H2_ERROR.frameSizeError],
  [
    'an endless header block',
    [
      frame(FRAME.headers, 0, 1, Buffer.alloc(10)),
      ...Array.from({ length: 5 }, () => frame(FRAME.continuation, 0, 1, Buffer.alloc(16_000))),
    ],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of pings',
    [Buffer.concat(Array.from({ length: 6000 }, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))))],
    H2_ERROR.enhanceYourCalm,
  ],
  ['a flood of settings', [flood(() => frame(FRAME.settings, 0, 0, NOTHING))], H2_ERROR.enhanceYourCalm],
  [
    'a flood of acknowledgements',
    [flood(() => frame(FRAME.settings, FLAG.ack, 0, NOTHING))],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of window updates',
    [flood(() => frame(FRAME.windowUpdate, 0, 0, uint32Payload(1)))],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of continuations without a byte',
    [frame(FRAME.headers, 0, 1, REQUEST), flood(() => frame(FRAME.continuation, 0, 1, NOTHING))],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of empty data',
    [open(1, FLAG.endHeaders), flood(() => frame(FRAME.data, 0, 1, NOTHING))],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of padding',
    [open(1, FLAG.endHeaders), flood(() => frame(FRAME.data, FLAG.padded, 1, Buffer.from([1, 0])))],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of priorities',
    [flood(() => frame(FRAME.priority, 0, 1, Buffer.alloc(5)))],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of streams that the server has to reset',
    [flood((id) => Buffer.concat([open(id), frame(FRAME.windowUpdate, 0, id, uint32Payload(0))]), 1100)],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'requests that are broken off faster than any client does',
    [flood((id) => Buffer.concat([open(id), frame(FRAME.resetStream, 0, id, uint32Payload(8))]), 1100)],
    H2_ERROR.enhanceYourCalm,
  ],
  [
    'a flood of resets',
    [
      Buffer.concat(
        Array.from({ length: 6000 }, (_, n) =>
          Buffer.concat([open(2 * n + 1), frame(FRAME.resetStream, 0, 2 * n + 1, uint32Payload(8))]),
        ),
      ),
    ],
    H2_ERROR.enhanceYourCalm,
  ],
])('%s ends the connection with the right code', async (_what, chunks, code) => {
  const { receive, events } = start();
  await receive(hello());
  const frames = await receive(...chunks);
  await turn();
  expect(goawayCode(frames)).toBe(code);
  expect(events.at(-1)).toBe('connection closed');
});

test('draining lets running streams finish and then closes', async () => {
  const { receive, streams, connection, events } = start();
  await receive(hello(), open(1));
  connection.drain();
  const frames = await receive();
  expect(frames.map(({ type }) => type)).toEqual([FRAME.goaway, FRAME.ping]);
  const [last] = await receive(frame(FRAME.ping, FLAG.ack, 0, frames[1]!.payload));
  expect([last!.type, last!.payload.readUInt32BE(0)]).toEqual([FRAME.goaway, 1]);
  streams[0]!.answer(HEAD, Buffer.from('x'), TRAILERS);
  await receive();
  await turn();
  expect(events.at(-1)).toBe('connection closed');
});

test('random frames and random bytes never throw out of the connection', async () => {
  const anyFrame = fc
    .tuple(fc.nat({ max: 11 }), fc.nat({ max: 255 }), fc.nat({ max: 9 }), fc.uint8Array({ maxLength: 40 }))
    .map(([type, flags, streamId, payload]) => frame(type, flags, streamId, payload));
  const anyChunk = fc.oneof(
    { weight: 6, arbitrary: anyFrame },
    { weight: 3, arbitrary: fc.constantFrom(open(1), open(3), open(5, FLAG.endHeaders)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ minLength: 1, maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyChunk, { maxLength: 25 }), async (chunks) => {
      const { receive, streams, connection } = start();
      await receive(hello(), ...chunks);
      for (const stream of streams) stream.answer(HEAD, Buffer.alloc(100), TRAILERS);
      await turn();
      connection.destroy();
      await turn();
      expect(connection.streamCount).toBe(0);
    }),
    { numRuns: 500 },
  );
});

const goaways = (frames: readonly Frame[]): number[] =>
  frames.filter(({ type }) => type === FRAME.goaway).map(({ payload }) => payload.readUInt32BE(0));

test('a stream after the last one that GOAWAY named is not served: its client sends it elsewhere', async () => {
  const { receive, connection, streams } = start();
  await receive(hello(), open(1, FLAG.endHeaders));
  connection.drain();
  const goodbye = (await receive()).find(({ type }) => type === FRAME.ping)!.payload;
  const answer = await receive(open(3), frame(FRAME.ping, FLAG.ack, 0, goodbye), open(5));
  expect({ served: streams.map(({ id }) => id), last: goaways(answer) }).toEqual({
    served: [1, 3],
    last: [3],
  });
});

test('a connection that ends with its last stream says which requests it served', async () => {
  const { receive, connection, streams, wire } = start();
  await receive(hello(), open(1), open(3));
  connection.drain();
  await receive();
  for (const stream of streams) stream.answer(HEAD, Buffer.from('hi'));
  await receive();
  expect(goaways(framesOf(wire.written))).toEqual([STREAM_ID_MAX, 3]);
});

test('an answer without trailers ends with its data', async () => {
  const { receive, streams, idles } = start();
  await receive(hello(), open(1));
  streams[0]!.answer(HEAD, Buffer.from('hi'));
  const frames = await receive();
  expect({ frames: frames.map(({ type, flags }) => [type, flags]), idles }).toEqual({
    frames: [
      [FRAME.headers, FLAG.endHeaders],
      [FRAME.data, FLAG.endStream],
    ],
    idles: [1],
  });
});

test('headers larger than a frame continue in CONTINUATION', async () => {
  const { receive, streams } = start();
  await receive(hello(), open(1));
  streams[0]!.answer(encodeHeaders([{ name: 'x', value: 'y'.repeat(40_000) }]), Buffer.from('hi'));
  const frames = await receive();
  expect(frames.map(({ type, flags }) => [type, flags])).toEqual([
    [FRAME.headers, 0],
    [FRAME.continuation, 0],
    [FRAME.continuation, FLAG.endHeaders],
    [FRAME.data, 0],
    [FRAME.data, FLAG.endStream],
  ]);
});

test('a stream that lingers is answered and takes the rest of its request', async () => {
  const { receive, streams, events, connection } = start();
  await receive(hello(), open(1, FLAG.endHeaders));
  streams[0]!.lingers = true;
  streams[0]!.answer(HEAD, Buffer.from('hi'));
  const open1 = connection.streamCount;
  const frames = await receive(
    frame(FRAME.data, 0, 1, Buffer.alloc(3)),
    frame(FRAME.data, FLAG.endStream, 1, Buffer.alloc(4)),
  );
  expect({ open1, resets: frames.filter(({ type }) => type === FRAME.resetStream).length, events }).toEqual({
    open1: 0,
    resets: 0,
    events: ['drain 1', 'data 1 3', 'data 1 4', 'end 1', 'closed 1 done'],
  });
});

test.each([
  ['CR and LF in a value', 'x-a', 'b\r\nx-c: d'],
  ['NUL in a value', 'x-a', 'b\0'],
  ['DEL in a value', 'x-a', '\x7f'],
  ['CR and LF in a name', 'x-a: b\r\nx-c', 'd'],
  ['a blank in a name', 'x a', 'b'],
  ['a name in upper case', 'X-A', 'b'],
  ['a colon in a name', 'x:a', 'b'],
  ['no name', '', 'b'],
])('a request with %s is reset, also when its header comes from the table', async (_what, name, value) => {
  const { receive, streams } = start();
  const text = (one: string): Buffer =>
    Buffer.concat([Buffer.from([one.length]), Buffer.from(one, 'latin1')]);
  // A literal that enters the table (0x40), and then the first entry of the dynamic table (62).
  const literal = Buffer.concat([REQUEST, Buffer.from([0x40]), text(name), text(value)]);
  const indexed = Buffer.concat([REQUEST, Buffer.from([0x80 | 62])]);
  const flags = FLAG.endHeaders | FLAG.endStream;
  const frames = await receive(
    hello(),
    frame(FRAME.headers, flags, 1, literal),
    frame(FRAME.headers, flags, 3, indexed),
    open(5),
  );
  const resets = frames
    .filter(({ type }) => type === FRAME.resetStream)
    .map(({ streamId, payload }) => [streamId, payload.readUInt32BE(0)]);
  expect([resets, streams.map(({ id }) => id)]).toEqual([
    [
      [1, H2_ERROR.protocolError],
      [3, H2_ERROR.protocolError],
    ],
    [5],
  ]);
});

test('requests that are broken off now and then are a client that changes its mind', async () => {
  const { receive, clock, events } = start();
  await receive(hello());
  for (let n = 0; n < 3000; n += 1) {
    clock.advance(20);
    await receive(open(2 * n + 1), frame(FRAME.resetStream, 0, 2 * n + 1, uint32Payload(8)));
  }
  expect(events).not.toContain('connection closed');
});

test('a stream whose peer takes nothing is reset after the stall timeout, one that moves is not', async () => {
  const { receive, streams, clock, events } = start();
  await receive(hello([[SETTING.initialWindowSize, 0]]), open(1), open(3));
  for (const stream of streams) stream.answer(HEAD, Buffer.alloc(100));
  clock.advance(600);
  await receive(frame(FRAME.windowUpdate, 0, 3, uint32Payload(10)));
  clock.advance(600);
  expect(events).toEqual(['end 1', 'end 3', 'drain 3', 'closed 1 reset']);
  clock.advance(600);
  expect(events.at(-1)).toBe('closed 3 reset');
  expect(clock.pendingCount).toBe(0);
});

test('a peer that does not even read loses its connection', async () => {
  const { wire, receive, streams, clock, events } = start();
  await receive(hello([[SETTING.initialWindowSize, 1_000_000]]), open(1));
  wire.stall = true;
  await receive(frame(FRAME.windowUpdate, 0, 0, uint32Payload(1_000_000)));
  streams[0]!.sendData(Buffer.alloc(900_000));
  await turn();
  clock.advance(1000);
  await turn();
  expect(events.at(-1)).toBe('connection closed');
  expect(clock.pendingCount).toBe(0);
});

test('past the budget the connection goes whose peer has taken nothing for the longest time', async () => {
  const [budget, clock] = [new StallBudget(300_000), manualClock()];
  const all = [1, 2, 3].map(() => start({ budget, clock }));
  const [reads, stalls, comes] = all;
  for (const { receive } of all) await receive(hello([[SETTING.initialWindowSize, 0]]), open(1));
  for (const { streams } of [reads!, stalls!]) streams[0]!.answer(HEAD, Buffer.alloc(120_000));
  clock.advance(100);
  await reads!.receive(frame(FRAME.windowUpdate, 0, 1, uint32Payload(1)));
  expect(budget.heldBytes).toBeGreaterThan(240_000);
  comes!.streams[0]!.answer(HEAD, Buffer.alloc(120_000));
  await turn();
  expect(all.map(({ events }) => events.includes('connection closed'))).toEqual([false, true, false]);
  expect(budget.heldBytes).toBeLessThan(300_000);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../raft/messages.ts';
import { decodeMessage, encodeMessage } from './codec.ts';
import { FrameReader } from './frame.ts';
import { readHello, readHelloReply, writeHello } from './hello.ts';
import { ByteWriter } from './bytes.ts';

const whole = fc.oneof(
  fc.nat(),
  fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  fc.constantFrom(0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
);
const data = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(new Uint8Array(5000).fill(7), new Uint8Array(70_000)),
);
const envelope = { from: whole, to: whole, term: whole };
const numbers = fc.array(whole, { maxLength: 8 });

const append = fc
  .record({
    prevIndex: fc.integer({ min: 0, max: 2 ** 52 }),
    rest: fc.record({ ...envelope, prevTerm: whole, commit: whole }),
    entries: fc.array(
      fc.record({
        term: whole,
        kind: fc.constantFrom('empty' as const, 'normal' as const, 'config' as const),
        data,
      }),
      { maxLength: 5 },
    ),
  })
  .map(({ prevIndex, rest, entries }): Message => ({
    kind: 'append',
    ...rest,
    prevIndex,
    entries: entries.map((entry, i) => ({ index: prevIndex + 1 + i, ...entry })),
  }));

const kind = <K extends Message['kind']>(name: K) => fc.constant(name);
const message: fc.Arbitrary<Message> = fc.oneof(
  append,
  fc.record({
    kind: kind('appendReply'),
    ...envelope,
    index: whole,
    reject: fc.boolean(),
    hintIndex: whole,
    hintTerm: whole,
  }),
  fc.record({ kind: kind('heartbeat'), ...envelope, commit: whole, readRound: whole }),
  fc.record({ kind: kind('heartbeatReply'), ...envelope, readRound: whole }),
  fc.record({
    kind: kind('voteRequest'),
    ...envelope,
    pre: fc.boolean(),
    transfer: fc.boolean(),
    lastIndex: whole,
    lastTerm: whole,
  }),
  fc.record({
    kind: kind('voteReply'),
    ...envelope,
    pre: fc.boolean(),
    reject: fc.boolean(),
    commit: whole,
    commitTerm: whole,
  }),
  fc.record({ kind: kind('commit'), ...envelope, commit: whole }),
  fc.record({
    kind: kind('snapshot'),
    ...envelope,
    mark: fc.record({
      index: whole,
      term: whole,
      configuration: fc.record({
        voters: numbers,
        votersOutgoing: numbers,
        learners: numbers,
        learnersNext: numbers,
      }),
    }),
  }),
  fc.record({ kind: kind('timeoutNow'), ...envelope }),
  fc.record({
    kind: kind('propose'),
    ...envelope,
    proposals: fc.array(fc.record({ kind: fc.constantFrom('normal' as const, 'config' as const), data }), {
      maxLength: 5,
    }),
  }),
  fc.record({ kind: kind('readIndex'), ...envelope, contexts: numbers }),
  fc.record({ kind: kind('readIndexReply'), ...envelope, index: whole, contexts: numbers }),
);

/** Bytes as hex: a deep comparison of large buffers takes seconds. */
const comparable = (value: Message): unknown => {
  const hex = <T extends { readonly data: Uint8Array }>(one: T) => ({
    ...one,
    data: Buffer.from(one.data).toString('hex'),
  });
  if (value.kind === 'append') return { ...value, entries: value.entries.map(hex) };
  if (value.kind === 'propose') return { ...value, proposals: value.proposals.map(hex) };
  return value;
};

test('every message survives the way over the wire', () => {
  fc.assert(
    fc.property(message, (one) => {
      const decoded = decodeMessage(Buffer.concat(encodeMessage(one)));
      expect(comparable(decoded)).toEqual(comparable(one));
    }),
    { numRuns: 300 },
  );
});

test('random bytes are refused as malformed or decode, and never do anything else', () => {
  const tries = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc
      .tuple(fc.nat(12), fc.uint8Array({ maxLength: 64 }))
      .map(([k, rest]) => Uint8Array.from([1, k, ...rest])),
  );
  fc.assert(
    fc.property(tries, (bytes) => {
      try {
        decodeMessage(bytes);
      } catch (error) {
        expect(error).toMatchObject({ reason: 'Malformed' });
      }
    }),
    { numRuns: 2000 },
  );
});

test('a message with any one byte cut off or changed never breaks the decoder', () => {
  fc.assert(
    fc.property(message, fc.nat(), fc.nat(255), (one, at, value) => {
      const bytes = Buffer.concat(encodeMessage(one)).subarray(0, 4096);
      const changed = Buffer.from(bytes);
      changed[at % changed.length] = value;
      for (const broken of [changed, bytes.subarray(0, at % bytes.length)]) {
        try {
          decodeMessage(broken);
        } catch (error) {
          expect(error).toMatchObject({ reason: 'Malformed' });
        }
      }
    }),
  );
});

test('a list cannot claim more items than its message has bytes', () => {
  const claim = Uint8Array.from([1, 9, 1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]);
  expect(() => decodeMessage(claim)).toThrow('longer than its message');
});

test('payloads are views on the way in, and large ones are not copied on the way out', () => {
  const large = Buffer.alloc(100_000, 1);
  const pieces = encodeMessage({
    kind: 'propose',
    from: 1,
    to: 2,
    term: 3,
    proposals: [{ kind: 'normal', data: large }],
  });
  expect(pieces.some((piece) => piece.buffer === large.buffer && piece.length === large.length)).toBe(true);
  const received = Buffer.concat(pieces);
  const decoded = decodeMessage(received);
  expect(decoded.kind === 'propose' && decoded.proposals[0]?.data.buffer === received.buffer).toBe(true);
});

test('frames come out the same however the stream is cut', () => {
  const frames = fc.array(fc.record({ type: fc.nat(255), payload: fc.uint8Array({ maxLength: 300 }) }), {
    maxLength: 10,
  });
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (list, cuts) => {
      const stream = Buffer.concat(
        list.map(({ type, payload }) => {
          const head = Buffer.alloc(5);
          head.writeUInt32BE(payload.length + 1);
          head[4] = type;
          return Buffer.concat([head, payload]);
        }),
      );
      const seen: { type: number; payload: Uint8Array }[] = [];
      const reader = new FrameReader((type, payload) =>
        seen.push({ type, payload: Uint8Array.from(payload) }),
      );
      for (let at = 0, i = 0; at < stream.length; i += 1) {
        const length = cuts[i % cuts.length]!;
        reader.push(stream.subarray(at, at + length));
        at += length;
      }
      expect(seen).toEqual(list);
    }),
  );
});

test('a frame beyond the bound is refused before anything is allocated for it', () => {
  const reader = new FrameReader(() => {});
  expect(() => reader.push(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toThrow('a frame of 1195725856 bytes');
  expect(() => new FrameReader(() => {}).push(Buffer.alloc(5))).toThrow('a frame of 0 bytes');
});

test('a hello is read back, another version is recognised, and nonsense is malformed', () => {
  const hello = {
    purpose: 'stream' as const,
    clusterId: 2n ** 64n - 1n,
    from: 2 ** 53 - 1,
    to: 5,
    urls: ['https://a:1'],
  };
  const writer = new ByteWriter();
  writeHello(writer, hello);
  const bytes = Buffer.concat(writer.take());
  expect(readHello(bytes)).toEqual(hello);
  const other = new ByteWriter();
  other.varint(0x70656572);
  other.varint(9);
  expect(readHello(Buffer.concat(other.take()))).toBe('versionMismatch');
  for (const nonsense of [Buffer.alloc(0), Buffer.from('hello'), bytes.subarray(0, 12)]) {
    expect(() => readHello(nonsense)).toThrow(expect.objectContaining({ reason: 'Malformed' }));
  }
  expect(() => readHelloReply(Buffer.from([99]))).toThrow('unknown verdict');
});

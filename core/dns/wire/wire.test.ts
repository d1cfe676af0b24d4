import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CLASS_IN,
  decodeMessage,
  encodeMessage,
  isWireError,
  message,
  TYPE,
  type Message,
  type RecordData,
  type ResourceRecord,
} from './index.ts';

const label = fc.oneof(
  fc.constantFrom('a', 'web', 'default', 'svc', 'cluster', 'local', 'WEB'),
  fc.stringMatching(/^[a-z0-9_-]{1,63}$/),
  fc.constantFrom('\\.', '\\\\', '\\000x', 'a\\255'),
);
const name = fc
  .array(label, { maxLength: 4 })
  .map((labels) => (labels.length === 0 ? '.' : `${labels.join('.')}.`))
  .filter((text) => text.length < 200);
const uint = (bits: number): fc.Arbitrary<number> => fc.nat(2 ** bits - 1);
const bytes = fc.uint8Array({ maxLength: 40 });
const withType = (type: fc.Arbitrary<number>, data: fc.Arbitrary<RecordData>) => fc.tuple(type, data);
const typed: fc.Arbitrary<[number, RecordData]> = fc.oneof(
  withType(
    fc.constant(TYPE.A),
    fc.ipV4().map((address) => ({ kind: 'address', address })),
  ),
  withType(fc.constant(TYPE.AAAA), fc.constantFrom<RecordData>({ kind: 'address', address: '2001:db8::1' })),
  withType(
    fc.constantFrom(TYPE.CNAME, TYPE.NS, TYPE.PTR),
    name.map((target) => ({ kind: 'name', target })),
  ),
  withType(
    fc.constant(TYPE.MX),
    fc.record({ kind: fc.constant('mx' as const), preference: uint(16), target: name }),
  ),
  withType(
    fc.constant(TYPE.SRV),
    fc.record({
      kind: fc.constant('srv' as const),
      priority: uint(16),
      weight: uint(16),
      port: uint(16),
      target: name,
    }),
  ),
  withType(
    fc.constant(TYPE.SOA),
    fc.record({
      kind: fc.constant('soa' as const),
      primary: name,
      mailbox: name,
      serial: uint(32),
      refreshSeconds: uint(32),
      retrySeconds: uint(32),
      expireSeconds: uint(32),
      minimumSeconds: uint(32),
    }),
  ),
  withType(
    fc.constant(TYPE.TXT),
    fc
      .array(fc.stringMatching(/^[ -~]{0,60}$/), { maxLength: 3 })
      .map((texts) => ({ kind: 'txt' as const, texts })),
  ),
  withType(
    fc.constant(65),
    bytes.map((raw) => ({ kind: 'raw' as const, bytes: raw })),
  ),
);
const record: fc.Arbitrary<ResourceRecord> = fc
  .tuple(name, typed, uint(16), uint(32))
  .map(([owner, [type, data], klass, ttlSeconds]) => ({ name: owner, type, class: klass, ttlSeconds, data }));
const records = fc.array(record, { maxLength: 4 });
const arbitraryMessage: fc.Arbitrary<Message> = fc
  .record({
    id: uint(16),
    isResponse: fc.boolean(),
    opcode: uint(4),
    isAuthoritative: fc.boolean(),
    isTruncated: fc.boolean(),
    isRecursionDesired: fc.boolean(),
    isRecursionAvailable: fc.boolean(),
    isAuthenticData: fc.boolean(),
    isCheckingDisabled: fc.boolean(),
    rcode: uint(12),
    questions: fc.array(fc.record({ name, type: uint(16), class: uint(16) }), { maxLength: 2 }),
    answers: records,
    authorities: records,
    additionals: records,
    edns: fc.option(
      fc.record({
        udpBytes: uint(16),
        version: uint(8),
        isDnssecOk: fc.boolean(),
        options: fc.array(fc.record({ code: uint(16), bytes }), { maxLength: 2 }),
      }),
      { nil: undefined },
    ),
  })
  .map((made) => ({ ...made, rcode: made.edns ? made.rcode : made.rcode % 16 }));

test('every message is what it was after encoding and decoding', () => {
  fc.assert(
    fc.property(arbitraryMessage, (made) => {
      expect(decodeMessage(encodeMessage(made))).toEqual(made);
    }),
    { numRuns: 300 },
  );
});

const decodes = (input: Uint8Array): string => {
  try {
    decodeMessage(input);
    return 'message';
  } catch (error) {
    if (!isWireError(error)) throw error;
    return error.reason;
  }
};

test('any bytes are a message or Malformed, and nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (input) => {
      expect(['message', 'Malformed']).toContain(decodes(input));
    }),
    { numRuns: 2_000 },
  );
});

test('a valid message with some bytes changed is a message or Malformed', () => {
  const change = fc.array(fc.tuple(fc.nat(), uint(8)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(arbitraryMessage, change, (made, changes) => {
      const encoded = encodeMessage(made);
      for (const [at, value] of changes) encoded[at % encoded.length] = value;
      expect(['message', 'Malformed']).toContain(decodes(encoded));
    }),
    { numRuns: 500 },
  );
});

const header = (questions: number): number[] => [0, 1, 0, 0, 0, questions, 0, 0, 0, 0, 0, 0];

test.each<[string, number[]]>([
  ['a pointer to itself', [...header(1), 0xc0, 12, 0, 1, 0, 1]],
  ['a pointer forward', [...header(1), 0xc0, 20, 0, 1, 0, 1, 0, 0, 0]],
  ['an unknown kind of label', [...header(1), 0x80, 0, 0, 1, 0, 1]],
  ['a header that is cut off', [0, 1, 0]],
  ['more questions than there are', header(65_535)],
  ['bytes behind the end', [...header(0), 0]],
])('%s is Malformed', (_, input) => expect(decodes(Uint8Array.from(input))).toBe('Malformed'));

test('a chain of pointers that is long and a message full of them end', () => {
  const chain = [...header(1)];
  // Pointers to pointers, each one step backwards, and a question at the end of them.
  for (let at = 12; chain.length < 60_000; at += 2) chain.push(0xc0 | ((at - 2) >> 8), (at - 2) & 0xff);
  expect(decodes(Uint8Array.from(chain))).toBe('Malformed');
});

const answers = (count: number): readonly ResourceRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    name: 'web.default.svc.cluster.local.',
    type: TYPE.A,
    class: CLASS_IN,
    ttlSeconds: 30,
    data: { kind: 'address', address: `10.0.0.${index}` },
  }));

test('records that do not fit are omitted with the TC bit set, and OPT stays', () => {
  const edns = { udpBytes: 1232, version: 0, isDnssecOk: false, options: [] };
  const made = message({ isResponse: true, answers: answers(100), edns });
  const encoded = encodeMessage(made, 512);
  const seen = decodeMessage(encoded);
  expect([encoded.length <= 512, seen.isTruncated, seen.answers.length, seen.edns]).toEqual([
    true,
    true,
    28,
    edns,
  ]);
});

test('additional records are left out without TC, and a name is written once', () => {
  const made = message({ isResponse: true, answers: answers(2), additionals: answers(100) });
  const seen = decodeMessage(encodeMessage(made, 512));
  expect([seen.isTruncated, seen.answers.length]).toEqual([false, 2]);
  expect(encodeMessage(message({ answers: answers(2) })).length).toBe(12 + 31 + 14 + 2 + 14);
});

test.each([
  ['a label that is too long', `${'a'.repeat(64)}.`],
  ['a name that is too long', `${'a.'.repeat(130)}`],
  ['an empty label', 'a..b.'],
  ['a character that is no byte', 'ä€.'],
  ['an escape that is no byte', '\\999.'],
])('%s is Invalid', (_, bad) => {
  const encode = (): unknown =>
    encodeMessage(message({ questions: [{ name: bad, type: 1, class: CLASS_IN }] }));
  expect(encode).toThrow(expect.objectContaining({ reason: 'Invalid' }));
});

import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import * as proto from './index.ts';
import { MalformedError, NESTED_MESSAGES_MAX } from './wire/index.ts';
import type { Field, MessageType } from './wire/index.ts';

/** protobufjs reads the .proto files and is the independent oracle of names, numbers and bytes. */
const oracle = new protobuf.Root();
oracle.resolvePath = (_origin, target) =>
  target.startsWith('/') ? target : fileURLToPath(new URL(target, import.meta.url));
oracle.loadSync(['rpc.proto', 'kv.proto', 'auth.proto', 'v3lock.proto', 'v3election.proto', 'health.proto']);

type AnyMessage = MessageType<unknown, never>;
const isMessage = (value: unknown): value is AnyMessage =>
  typeof value === 'object' && value !== null && 'decode' in value;
const messages: AnyMessage[] = Object.values<unknown>(proto).filter(isMessage);

const camel = (name: string): string => name.replace(/_([A-Za-z])/g, (_all, c: string) => c.toUpperCase());
const wireName = (field: Field): string => field.message?.().name ?? field.type.replace('Number', '');

const oracleTypeOf = (field: protobuf.Field): string => {
  field.resolve();
  if (field.resolvedType instanceof protobuf.Enum) return 'int32';
  return field.resolvedType === null ? field.type : field.resolvedType.fullName.slice(1);
};

test('every message declares the names, numbers, types and oneofs of its .proto', () => {
  const declared = messages.map((message) => ({
    name: message.name,
    fields: Object.entries(message.fields).map(([key, field]) => ({
      key,
      number: field.number,
      type: wireName(field),
      repeated: field.label === 'repeated',
      oneof: field.oneof,
    })),
  }));
  const expected = messages.map((message) => ({
    name: message.name,
    fields: oracle.lookupType(message.name).fieldsArray.map((field) => ({
      key: camel(field.name),
      number: field.id,
      type: oracleTypeOf(field),
      repeated: field.repeated,
      oneof: field.partOf?.name,
    })),
  }));
  expect(declared).toEqual(expected);
});

test('every message of the .proto files has a codec', () => {
  const names: string[] = [];
  const walk = (namespace: protobuf.NamespaceBase): void => {
    for (const child of namespace.nestedArray) {
      if (child instanceof protobuf.Type) names.push(child.fullName.slice(1));
      if (child instanceof protobuf.Namespace) walk(child);
    }
  };
  walk(oracle);
  expect(messages.map(({ name }) => name).sort()).toEqual(names.sort());
});

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

/** Values of a message as its decoder gives them, so that a round trip must return them unchanged. */
const valueOf = (message: AnyMessage, depth: number): fc.Arbitrary<Record<string, unknown>> => {
  const scalar = (field: Field): fc.Arbitrary<unknown> => {
    switch (field.type) {
      case 'bytes':
        return fc.uint8Array({ maxLength: 200 });
      case 'string':
        return fc.string({ unit: 'grapheme', maxLength: 80 });
      case 'bool':
        return fc.boolean();
      case 'int32':
        return fc.integer();
      case 'uint32':
        return fc.nat({ max: 0xffffffff });
      case 'int64':
        return fc.oneof(int64, fc.constant(0n), fc.bigInt({ min: 0n, max: 300n }));
      case 'uint64':
        return fc.oneof(uint64, fc.constant(0n));
      case 'int64Number':
        return fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.constant(0)).map((n) => (n === 0 ? 0 : n));
      case 'uint64Number':
        return fc.oneof(fc.maxSafeNat(), fc.nat());
      case 'message':
        return valueOf(field.message!(), depth - 1);
    }
  };
  const shape: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [key, field] of Object.entries(message.fields)) {
    const nothing = fc.constant(undefined);
    if (field.label === 'repeated')
      shape[key] =
        depth > 0 || field.type !== 'message' ? fc.array(scalar(field), { maxLength: 4 }) : fc.constant([]);
    else if (field.type === 'message')
      shape[key] = depth > 0 ? fc.option(scalar(field), { nil: undefined }) : nothing;
    else
      shape[key] = field.label === 'optional' ? fc.option(scalar(field), { nil: undefined }) : scalar(field);
  }
  return fc.tuple(fc.record(shape), fc.nat()).map(([value, pick]) => keepOneOfEach(message, value, pick));
};

const keepOneOfEach = (message: AnyMessage, value: Record<string, unknown>, pick: number) => {
  const groups = new Map<string, string[]>();
  for (const [key, { oneof }] of Object.entries(message.fields))
    if (oneof !== undefined) groups.set(oneof, [...(groups.get(oneof) ?? []), key]);
  const result = { ...value };
  for (const keys of groups.values())
    for (const key of keys) if (key !== keys[pick % keys.length]) result[key] = undefined;
  return result;
};

const codecOf = (message: AnyMessage) => message as unknown as MessageType<unknown, unknown>;

test.each(messages.map((message) => [message.name, message] as const))(
  '%s survives a round trip, and the oracle reads and re-writes the same bytes',
  (name, message) => {
    const reference = oracle.lookupType(name);
    fc.assert(
      fc.property(valueOf(message, 3), (value) => {
        const codec = codecOf(message);
        const bytes = codec.encode(value);
        expect(codec.decode(bytes)).toEqual(value);
        const again = reference.encode(reference.decode(bytes)).finish();
        expect(Buffer.from(again).toString('hex')).toBe(bytes.toString('hex'));
      }),
      { numRuns: 60 },
    );
  },
);

test.each(messages.map((message) => [message.name, message] as const))(
  '%s answers any bytes with a value or MalformedError',
  (_name, message) => {
    const attempt = (bytes: Uint8Array): string => {
      try {
        message.decode(bytes);
        return 'value';
      } catch (error) {
        return error instanceof MalformedError ? 'malformed' : String(error);
      }
    };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        expect(['value', 'malformed']).toContain(attempt(bytes));
      }),
      { numRuns: 150 },
    );
  },
);

test('a message cut anywhere inside a field is malformed', () => {
  const bytes = proto.PutRequest.encode({ key: Buffer.from('k'.repeat(200)), lease: 1n << 62n });
  const outcomes = new Set<string>();
  for (let length = 1; length < bytes.length; length += 1) {
    if (length === 203) continue; // exactly between the two fields
    try {
      proto.PutRequest.decode(bytes.subarray(0, length));
      outcomes.add(`accepted ${length}`);
    } catch (error) {
      outcomes.add((error as Error).name);
    }
  }
  expect([...outcomes]).toEqual(['MalformedError']);
});

test('a known field of another wire type is refused in the words of etcd', () => {
  expect(() => proto.PutRequest.decode(Buffer.from([0x08, 0x01]))).toThrow(
    'proto: wrong wireType = 0 for field Key',
  );
  expect(() => proto.MemberAddRequest.decode(Buffer.from([0x12, 0x00]))).toThrow(
    'proto: wrong wireType = 2 for field IsLearner',
  );
});

test('a tag of more than 32 bits does not pass for the field that its lower bits name', () => {
  const key = Buffer.from([0x8a, 0x80, 0x80, 0x80, 0x10, 0x01, 0x61]);
  expect(() => proto.PutRequest.decode(key)).toThrow('proto: illegal tag above 32 bits');
});

test('fields of a newer version are skipped, in every wire type', () => {
  const unknown = Buffer.from([
    ...[0xa0, 0x06, 0x96, 0x01], // 100: varint
    ...[0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8], // 100: fixed64
    ...[0xa2, 0x06, 2, 9, 9], // 100: bytes
    ...[0xa3, 0x06, 0x08, 1, 0xa4, 0x06], // 100: group
    ...[0xa5, 0x06, 1, 2, 3, 4], // 100: fixed32
  ]);
  const bytes = Buffer.concat([unknown, proto.LeaseRevokeRequest.encode({ ID: 7n }), unknown]);
  expect(proto.LeaseRevokeRequest.decode(bytes)).toEqual({ ID: 7n });
});

const nestedTxn = (levels: number): Buffer => {
  let bytes = proto.TxnRequest.encode({});
  for (let level = 0; level < levels; level += 1)
    bytes = proto.TxnRequest.encode({ success: [{ requestTxn: bytes }] });
  return bytes;
};

test('nested txns are decoded up to the bound and refused beyond it', () => {
  expect(proto.TxnRequest.decode(nestedTxn(NESTED_MESSAGES_MAX / 2 - 1)).success).toHaveLength(1);
  expect(() => proto.TxnRequest.decode(nestedTxn(NESTED_MESSAGES_MAX))).toThrow('nested too deeply');
});

test('a length of more than 32 bits is not taken for a small one', () => {
  expect(() => proto.PutRequest.decode(Buffer.from([0x0a, 0x81, 0x80, 0x80, 0x80, 0x10, 0x61]))).toThrow(
    MalformedError,
  );
});

test('int64 beyond 2^53 is exact as an id and held at the edge as a number', () => {
  const max = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
  expect(proto.LeaseRevokeRequest.decode(Buffer.concat([Buffer.from([0x08]), max]))).toEqual({
    ID: 2n ** 63n - 1n,
  });
  expect(proto.CompactionRequest.decode(Buffer.concat([Buffer.from([0x08]), max])).revision).toBe(
    Number.MAX_SAFE_INTEGER,
  );
});

test('the last member of a oneof on the wire is the one that is set', () => {
  const bytes = Buffer.concat([
    proto.WatchRequest.encode({ createRequest: { key: Buffer.from('a') } }),
    proto.WatchRequest.encode({ cancelRequest: { watchId: 3n } }),
  ]);
  expect(proto.WatchRequest.decode(bytes)).toEqual({
    createRequest: undefined,
    cancelRequest: { watchId: 3n },
    progressRequest: undefined,
  });
});

test('a nested message may be given encoded', () => {
  const kv = { key: Buffer.from('a'), value: Buffer.from('b'), modRevision: 9 };
  expect(proto.RangeResponse.encode({ kvs: [proto.KeyValue.encode(kv)], count: 1 })).toEqual(
    proto.RangeResponse.encode({ kvs: [kv], count: 1 }),
  );
});

test('headroom is left in front, and a message larger than the scratch buffer is whole', () => {
  const value = Buffer.alloc(6 * 1024 * 1024, 7);
  const bytes = proto.PutRequest.encode({ key: Buffer.from('k'), value }, 5);
  const decoded = proto.PutRequest.decode(bytes.subarray(5));
  expect(Buffer.compare(decoded.value, value)).toBe(0);
});

test('byte fields are views of the input, not copies', () => {
  const bytes = proto.PutRequest.encode({ key: Buffer.from('abc') });
  expect(proto.PutRequest.decode(bytes).key.buffer).toBe(bytes.buffer);
});

test('an encoder that throws leaves the codec usable', () => {
  expect(() => proto.LeaseRevokeRequest.encode({ ID: 1 as unknown as bigint })).toThrow(TypeError);
  expect(proto.LeaseRevokeRequest.decode(proto.LeaseRevokeRequest.encode({ ID: 2n }))).toEqual({ ID: 2n });
});

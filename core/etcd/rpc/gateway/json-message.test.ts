import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import * as proto from '../../proto/index.ts';
import type { MessageType } from '../../proto/wire/index.ts';
import { namesOf } from './field-names.ts';
import { messageFromJson, messageToJson } from './json-message.ts';

const oracle = new protobuf.Root();
oracle.resolvePath = (_origin, target) =>
  target.startsWith('/') ? target : fileURLToPath(new URL(`../../proto/${target}`, import.meta.url));
oracle.loadSync(['rpc.proto', 'kv.proto', 'auth.proto', 'v3lock.proto', 'v3election.proto', 'health.proto'], {
  keepCase: true,
});
const messages = Object.values<unknown>(proto).filter(
  (value): value is MessageType<unknown, never> =>
    typeof value === 'object' && value !== null && 'decode' in value,
);

test('every field has the name and every enum the values of its .proto', () => {
  const declared = messages.map((message) =>
    namesOf(message).all.map(({ protoName, field }) => [protoName, field.values]),
  );
  const expected = messages.map(({ name }) =>
    oracle.lookupType(name).fieldsArray.map((field) => {
      field.resolve();
      const { resolvedType } = field;
      return [field.name, resolvedType instanceof protobuf.Enum ? resolvedType.values : undefined];
    }),
  );
  expect(declared).toEqual(expected);
});

const roundTrip = <Out>(message: MessageType<Out, never>, json: string): string =>
  messageToJson(message, message.create(messageFromJson(message, json) as never));

describe('to JSON and back', () => {
  test.each([
    ['bytes and 64-bit numbers', proto.PutRequest, '{"key":"YQ==","value":"/+8=","lease":"-1"}'],
    ['an enum', proto.RangeRequest, '{"key":"YQ==","limit":"5","sort_order":"DESCEND"}'],
    ['a number that is no name of its enum', proto.RangeRequest, '{"sort_order":7}'],
    ['a field of a oneof that is zero', proto.Compare, '{"target":"LEASE","key":"YQ==","lease":"0"}'],
    ['an empty message', proto.WatchRequest, '{"progress_request":{}}'],
    ['lists of enums', proto.WatchCreateRequest, '{"key":"YQ==","filters":["NOPUT","NODELETE"]}'],
    [
      'messages in messages',
      proto.TxnRequest,
      '{"compare":[{"key":"YQ==","value":"Yg=="}],"success":[{"request_put":{"key":"YQ=="}}]}',
    ],
    ['the largest number', proto.LeaseGrantResponse, '{"ID":"9223372036854775807","TTL":"1"}'],
  ] as const)('%s', (_what, message, json) => {
    expect(roundTrip(message as unknown as MessageType<unknown, never>, json)).toBe(json);
  });

  test('names in camel case, numbers without quotes, base64 for URLs, and what is unknown', () => {
    const json = ` {"rangeEnd":"_-8", "limit": 1e1, "more":{"x":[1,null]}, "revision":2.0, "sortTarget":"MOD",
      "key": null, "count_only":true} `;
    expect(roundTrip(proto.RangeRequest, json)).toBe(
      '{"range_end":"/+8=","limit":"10","revision":"2","sort_target":"MOD","count_only":true}',
    );
  });
});

describe('what is rejected, in the words of Go', () => {
  test.each([
    ['xx', "invalid character 'x' looking for beginning of value"],
    ['', 'unexpected EOF'],
    ['{"key"', 'unexpected EOF'],
    ['{"key" "x"}', `invalid character '"' after object key`],
    ['{"key":"YQ==";}', "invalid character ';' after object key:value pair"],
    ['{key:1}', "invalid character 'k' looking for beginning of object key string"],
    ['{"a":[1 2]}', "invalid character '2' after array element"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    [`${'['.repeat(600)}`, 'exceeded max depth'],
    ['[]', 'proto: syntax error (line 1:1): unexpected token ['],
    ['{"key":"a"}', 'proto: (line 1:8): invalid value for bytes field key: "a"'],
    ['{"key":"YQ="}', 'proto: (line 1:8): invalid value for bytes field key: "YQ="'],
    ['{\n "limit":"x"}', 'proto: (line 2:10): invalid value for int64 field limit: "x"'],
    ['{"limit":1.5}', 'proto: (line 1:10): invalid value for int64 field limit: 1.5'],
    [
      '{"limit":9223372036854775808}',
      'proto: (line 1:10): invalid value for int64 field limit: 9223372036854775808',
    ],
    ['{"sort_order":"UP"}', 'proto: (line 1:15): invalid value for enum field sortOrder: "UP"'],
    ['{"sort_order":"toString"}', 'proto: (line 1:15): invalid value for enum field sortOrder: "toString"'],
    ['{"serializable":"true"}', 'proto: (line 1:17): invalid value for bool field serializable: "true"'],
    ['{"key":"", "key":""}', 'proto: (line 1:12): duplicate field "key"'],
  ])('%s', (json, text) => {
    expect(() => messageFromJson(proto.RangeRequest, json)).toThrow(text);
  });

  test('two fields of a oneof', () => {
    expect(() => messageFromJson(proto.Compare, '{"version":1,"lease":1}')).toThrow(
      'proto: (line 1:14): error parsing "lease", oneof etcdserverpb.Compare.target_union is already set',
    );
  });
});

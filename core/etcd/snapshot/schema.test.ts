import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRevisionKey, encodeConfState, encodeMember, encodeRevisionKey, memberKey } from './schema.ts';

test('a revision key has the bytes that etcd stores', () => {
  expect(encodeRevisionKey({ main: 0x0102, sub: 3 }).toString('hex')).toBe(
    '00000000000001025f0000000000000003',
  );
});

test('revisions survive the way through their key, and a trailing t is a tombstone', () => {
  const part = fc.maxSafeNat();
  fc.assert(
    fc.property(part, part, fc.boolean(), (main, sub, isTombstone) => {
      const key = encodeRevisionKey({ main, sub });
      const marked = isTombstone ? Buffer.concat([key, Buffer.from('t')]) : key;
      expect(decodeRevisionKey(marked)).toEqual({ main, sub, isTombstone });
    }),
  );
});

test.each([
  ['00', /has 1 bytes/],
  ['00000000000001025e0000000000000003', /no separator/],
  ['80000000000001025f0000000000000003', /negative/],
  ['70000000000001025f0000000000000003', /larger than/],
])('the revision key %s is refused', (hex, message) => {
  expect(() => decodeRevisionKey(Buffer.from(hex, 'hex'))).toThrowError(message);
});

test('a member is stored as Go stores it, its id with all 64 bits', () => {
  const member = { id: 0x8e9e05c52164694dn, name: 'default', peerURLs: ['http://localhost:2380'] };
  expect([memberKey(member.id).toString(), encodeMember(member).toString()]).toEqual([
    '8e9e05c52164694d',
    '{"id":10276657743932975437,"peerURLs":["http://localhost:2380"],"name":"default"}',
  ]);
});

test('learners and client URLs appear where there are any', () => {
  const learner = { id: 5, name: '', peerURLs: ['http://a'], clientURLs: ['http://b'], isLearner: true };
  expect(encodeMember(learner).toString()).toBe(
    '{"id":5,"peerURLs":["http://a"],"isLearner":true,"clientURLs":["http://b"]}',
  );
  expect(
    encodeConfState([
      learner,
      { id: 9n, name: 'x', peerURLs: [] },
      { id: 2n, name: 'y', peerURLs: [] },
    ]).toString(),
  ).toBe('{"voters":[2,9],"learners":[5],"auto_leave":false}');
});

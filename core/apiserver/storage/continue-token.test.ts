import { expect, test } from 'vitest';
import { decodeContinue, encodeContinue } from './continue-token.ts';

const PREFIX = '/registry/pods/';
const tokenOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test("a token is upstream's, and comes back as it was", () => {
  const point = { startKey: '/registry/pods/default/a\0', revision: 42 };
  const token = encodeContinue(point, PREFIX);
  expect(Buffer.from(token, 'base64url').toString()).toBe(
    '{"v":"meta.k8s.io/v1","rv":42,"start":"default/a\\u0000"}',
  );
  expect(decodeContinue(token, PREFIX)).toEqual(point);
});

test.each([
  ['no base64 of JSON', '!!'],
  ['another version', tokenOf({ v: 'meta.k8s.io/v2', rv: 1, start: 'a' })],
  ['no revision', tokenOf({ v: 'meta.k8s.io/v1', start: 'a' })],
  ['no start', tokenOf({ v: 'meta.k8s.io/v1', rv: 1, start: '' })],
  ['a way out of the list', tokenOf({ v: 'meta.k8s.io/v1', rv: 1, start: '../secrets/a' })],
])('a token with %s is refused', (_what, token) => {
  expect(() => decodeContinue(token, PREFIX)).toThrow(expect.objectContaining({ reason: 'InvalidContinue' }));
});

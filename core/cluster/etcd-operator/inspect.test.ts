import { expect, test } from 'vitest';
import { verbatim } from '../../contract/index.ts';
import { isClaim, verdictOf, waitingLines, type Claim, type MemberHash } from './inspect.ts';

const member = (name: string, hash: number | undefined, compactRevision: number | undefined): MemberHash => ({
  id: name,
  name,
  hash,
  compactRevision,
  problem: hash === undefined ? verbatim('unreachable') : undefined,
});

test.each([
  ['equal', [member('a', 7, 3), member('b', 7, 3)]],
  ['different', [member('a', 7, 3), member('b', 8, 3), member('c', undefined, undefined)]],
  ['unverified', [member('a', 7, 3), member('b', 8, 4)]],
  ['unverified', [member('a', 7, 3), member('b', undefined, undefined)]],
  ['unverified', []],
] as const)('hashes are %s', (verdict, members) => {
  expect(verdictOf(members)).toBe(verdict);
});

const claim = (key: string, createRevision: number, value = ''): Claim => ({
  key,
  lease: key.split('/').at(-1)!,
  ttlSeconds: 60,
  createRevision,
  value,
});

test('waiters for one name are listed in the order of their keys', () => {
  const lines = waitingLines([claim('b/2', 9), claim('jobs/a/3', 8, 'me'), claim('b/1', 5)]);
  expect(lines.map(({ name, kind, claims }) => [name, kind, claims.map(({ lease }) => lease)])).toEqual([
    ['b', 'lock', ['1', '2']],
    ['jobs/a', 'election', ['3']],
  ]);
});

test('a key is a claim only where it ends with its own lease', () => {
  expect([isClaim('my-lock/694d7', 0x694d7n), isClaim('/registry/events/default/694d7', 0x11n)]).toEqual([
    true,
    false,
  ]);
});

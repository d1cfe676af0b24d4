import { expect, test } from 'vitest';
import { PERMISSION_TYPE, type Permission } from '../proto/index.ts';
import { isValidPermissionRange, KeyPermissions } from './permissions.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const permission = (type: keyof typeof PERMISSION_TYPE, key: string, rangeEnd = ''): Permission => ({
  permType: PERMISSION_TYPE[type],
  key: bytes(key),
  rangeEnd: bytes(rangeEnd),
});
const may = (permissions: readonly Permission[], key: string, rangeEnd = ''): string => {
  const granted = new KeyPermissions(permissions);
  return `${granted.mayRead(bytes(key), bytes(rangeEnd)) ? 'r' : '-'}${granted.mayWrite(bytes(key), bytes(rangeEnd)) ? 'w' : '-'}`;
};

test.each([
  ['one key', [permission('READ', 'a')], 'a', '', 'r-'],
  ['not the next key', [permission('READ', 'a')], 'a\0', '', '--'],
  ['not a range from that key', [permission('READ', 'a')], 'a', 'b', '--'],
  ['a key in a range', [permission('READWRITE', 'a', 'c')], 'bz', '', 'rw'],
  ['not the end of a range', [permission('READWRITE', 'a', 'c')], 'c', '', '--'],
  ['a range in a range', [permission('WRITE', 'a', 'c')], 'a', 'c', '-w'],
  ['not a range that goes beyond', [permission('WRITE', 'a', 'c')], 'a', 'c\0', '--'],
  ['not an open end in a range', [permission('WRITE', 'a', 'c')], 'b', '\0', '--'],
  ['an open end', [permission('READ', 'a', '\0')], 'b', '\0', 'r-'],
  ['all keys', [permission('READ', '\0', '\0')], '\0', '\0', 'r-'],
  ['not what is before an open end', [permission('READ', 'b', '\0')], 'a', '\0', '--'],
  ['two ranges that touch', [permission('READ', 'a', 'b'), permission('READ', 'b', 'c')], 'a', 'c', 'r-'],
  ['not two with a gap', [permission('READ', 'a', 'b'), permission('READ', 'b\0', 'c')], 'a', 'c', '--'],
  ['each of its kind', [permission('READ', 'a', 'c'), permission('WRITE', 'b', 'd')], 'b', 'c', 'rw'],
  [
    'a range within a larger one',
    [permission('READ', 'a', 'z'), permission('READ', 'b', 'c')],
    'd',
    'e',
    'r-',
  ],
  ['bytes beyond ASCII', [permission('READ', '\xfe', '\xff')], '\xfe\xff', '', 'r-'],
  ['an empty range only where its key is covered', [permission('READ', 'b', 'c')], 'c', 'a', '--'],
])('%s', (_what, permissions, key, rangeEnd, expected) => {
  expect(may(permissions, key, rangeEnd)).toBe(expected);
});

test('a permission needs a key and an end after it', () => {
  const valid = (key: string, end = ''): boolean => isValidPermissionRange(permission('READ', key, end));
  expect([
    valid('a'),
    valid('a', 'b'),
    valid('a', '\0'),
    valid(''),
    valid('b', 'a'),
    valid('a', 'a'),
  ]).toEqual([true, true, true, false, false, false]);
});

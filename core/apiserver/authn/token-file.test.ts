import { expect, test } from 'vitest';
import { tokenFileAuthenticator } from './token-file.ts';

test('a token is that of the user in its line', () => {
  const authenticate = tokenFileAuthenticator('abc,ada,1,"dev,ops"\r\n\n"a""b",bob,2\n,nobody,3\n');
  expect(authenticate('abc')).toEqual({ name: 'ada', uid: '1', groups: ['dev', 'ops'], extra: {} });
  expect(authenticate('a"b')).toEqual({ name: 'bob', uid: '2', groups: [], extra: {} });
  expect(authenticate('')).toBeUndefined();
  expect(authenticate('abcd')).toBeUndefined();
});

test.each([
  ['abc,ada\n', 'must have at least 3 columns (token, user name, user uid), found 2'],
  ['"abc,ada,1\n', 'a quoted field has no end'],
])('%j is rejected', (text, message) => {
  expect(() => tokenFileAuthenticator(text)).toThrow(message);
});

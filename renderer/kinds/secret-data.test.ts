import { expect, test } from 'vitest';
import { decodeSecret, withoutSecrets } from './secret-data.ts';

test('a value is decoded where it is text, and counted where it is not', () => {
  expect(decodeSecret(btoa('hunter2'))).toEqual({ bytes: 7, text: 'hunter2' });
  expect(decodeSecret('w7w=')).toEqual({ bytes: 2, text: 'ü' });
  expect(decodeSecret(btoa('\u0000\u0001'))).toEqual({ bytes: 2, text: undefined });
  expect(decodeSecret('/w==')).toEqual({ bytes: 1, text: undefined });
  expect(decodeSecret('')).toEqual({ bytes: 0, text: '' });
});

test('no value of a Secret is left, neither in its data nor in what a client applied last', () => {
  const applied = '{"stringData":{"password":"hunter2"}}';
  const secret = {
    kind: 'Secret',
    metadata: {
      name: 'a',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied, team: 'b' },
    },
    data: { password: btoa('hunter2') },
    stringData: { other: 'hunter2' },
  };
  expect(withoutSecrets(secret, '•')).toEqual({
    kind: 'Secret',
    metadata: {
      name: 'a',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '•', team: 'b' },
    },
    data: { password: '•' },
    stringData: { other: '•' },
  });
});

test('objects of other kinds stay as they are', () => {
  const map = { kind: 'ConfigMap', data: { a: 'b' } };
  expect(withoutSecrets(map, '•')).toBe(map);
});

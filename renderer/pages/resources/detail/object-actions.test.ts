import { expect, test } from 'vitest';
import { readLabel } from './object-actions.ts';

test.each([
  ['tier=web', { key: 'tier', value: 'web' }],
  ['app.kubernetes.io/name=a.b-c_d', { key: 'app.kubernetes.io/name', value: 'a.b-c_d' }],
  ['tier=', { key: 'tier', value: '' }],
  ['tier-', { key: 'tier', value: null }],
  [' tier=web ', { key: 'tier', value: 'web' }],
])('%j is read as a label', (text, label) => {
  expect(readLabel(text)).toEqual(label);
});

test.each(['', 'tier', '=web', 'tier=a b', 'tier=-a', 'a/b/c=d', 'tier==web'])('%j is no label', (text) => {
  expect(readLabel(text)).toBe(undefined);
});

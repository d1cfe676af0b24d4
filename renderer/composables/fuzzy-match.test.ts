import { expect, test } from 'vitest';
import { fuzzyMatch } from './fuzzy-match.ts';

const marked = (query: string, text: string): string | undefined =>
  fuzzyMatch(query, text)
    ?.parts.map((part) => (part.matched ? `[${part.text}]` : part.text))
    .join('');

test('a whole word is marked where it starts, not where it first occurs inside another', () => {
  expect(marked('set', 'Reset settings')).toBe('Reset [set]tings');
});

test('letters in order match and are marked one by one', () => {
  expect(marked('opk', 'Open a kubeconfig…')).toBe('[Op]en a [k]ubeconfig…');
});

test('a missing label does not match', () => {
  expect(fuzzyMatch('xyz', 'Settings')).toBeUndefined();
});

test('the start of a word beats the middle, the whole beats scattered letters', () => {
  const scores = ['cp-2 node', 'etcd-cp-2', 'xcp-2', 'c per 2'].map(
    (text) => fuzzyMatch('cp-2', text)?.score ?? 0,
  );
  expect([...scores].sort((a, b) => b - a)).toEqual(scores);
});

import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

const shown = (before: string, after: string): string[] =>
  lineDiff(before, after).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`);

test('a changed line is removed and added, with two lines around it', () => {
  expect(shown('1\n2\n3\nold\n5\n6\n7', '1\n2\n3\nnew\n5\n6\n7')).toEqual([
    ' 2',
    ' 3',
    '-old',
    '+new',
    ' 5',
    ' 6',
  ]);
});

test('lines that only one side has are added or removed', () => {
  expect(shown('a\nb', 'a\nb\nc')).toEqual([' a', ' b', '+c']);
  expect(shown('a\nb\nc', 'a\nc')).toEqual([' a', '-b', ' c']);
});

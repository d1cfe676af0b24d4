// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { pages } from '../pages/pages.ts';

test('every page has a path and a go key of its own', () => {
  const doubled = (values: readonly string[]): string[] =>
    values.filter((value, index) => values.indexOf(value) !== index);
  const goKeys = pages.flatMap(({ goKey }) => goKey ?? []);
  expect(goKeys.length).toBeGreaterThan(20);
  expect([doubled(pages.map(({ path }) => path)), doubled(goKeys)]).toEqual([[], []]);
});

test('pages of one group of the navigation have different icons: a small window shows nothing else', () => {
  const shown = pages.map(({ group, icon }) => `${group} ${icon}`);
  expect(shown.filter((each, index) => shown.indexOf(each) !== index)).toEqual([]);
});

import { expect, test } from 'vitest';
import { yamlDepthOf } from './yaml-depth.ts';

test.each([
  ['a: 1', 1],
  ['a:\n  b:\n    c: 1\nd: 2', 3],
  ['- - - x', 4],
  ['a:\n- b\n- c:\n    d: 1', 3],
  ['a: [[{b: 1}]]', 4],
  ['', 0],
  ['\n\n', 0],
  ['['.repeat(5000), 5001],
  ['- '.repeat(5000), 5000],
])('%j nests %i levels', (text, depth) => {
  expect(yamlDepthOf(text)).toBe(depth);
});

test('text inside of a block may be indented as far as it likes', () => {
  expect(yamlDepthOf(`a: |\n${' '.repeat(3000)}far\n  near\n`)).toBe(2);
});

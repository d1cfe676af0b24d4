import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../patch/json.ts';
import { list, SCALAR, struct } from '../patch/testing/types.ts';
import { mergeTyped } from './typed-merge.ts';

const TYPE = struct({
  list: list(struct({ key: SCALAR, id: SCALAR, nv: SCALAR, bv: SCALAR }), {
    listType: 'map',
    listMapKeys: ['key', 'id'],
  }),
  set: list(SCALAR, { listType: 'set' }),
  atomic: list(SCALAR, { listType: 'atomic' }),
  nested: struct({ a: SCALAR, b: SCALAR }),
});

const items = (letters: string): Json[] => [...letters].map((key) => ({ key, id: 1 }));

// Order as structured-merge-diff has it: live, configuration, result.
test.each<[string, string, string]>([
  ['a', 'a', 'a'],
  ['a', 'b', 'ab'],
  ['ab', 'ac', 'abc'],
  ['b', 'abc', 'abc'],
  ['abc', 'cb', 'acb'],
  ['abc', 'ca', 'bca'],
  ['ab', 'ba', 'ba'],
  ['abc', 'def', 'abcdef'],
  ['abc', 'cdef', 'abcdef'],
  ['abcgf', 'cdef', 'abcgdef'],
  ['cdef', 'ace', 'acdef'],
  ['abcxyz', 'def', 'abcxyzdef'],
  ['abcxyz', 'defxyz', 'abcdefxyz'],
  ['cagf', 'cfag', 'cfag'],
  ['abcd', 'defa', 'bcdefa'],
  ['cdefghij', '2h3e4kl', 'cdfg2hij3e4kl'],
  ['abcdefghij', '1b2h3e4kl', 'a1bcdfg2hij3e4kl'],
  ['abb', 'c', 'abbc'],
  ['abb', 'b', 'ab'],
  ['abb', 'a', 'abb'],
  ['', 'ab', 'ab'],
  ['ab', '', 'ab'],
])('items %j applied with %j give %j', (live, config, result) => {
  expect(mergeTyped({ list: items(live) }, { list: items(config) }, TYPE)).toEqual({ list: items(result) });
  expect(mergeTyped({ set: [...live] }, { set: [...config] }, TYPE)).toEqual({ set: [...result] });
});

test.each<[JsonObject, JsonObject, JsonObject]>([
  [{ atomic: ['a', 'a'] }, { atomic: ['b'] }, { atomic: ['b'] }],
  [{ atomic: ['a'] }, { atomic: [] }, { atomic: [] }],
  [{ atomic: ['a'] }, { atomic: null }, {}],
  [{ nested: { a: 1 } }, { nested: { b: 2 } }, { nested: { a: 1, b: 2 } }],
  [{ nested: { a: 1 } }, { nested: { a: null } }, { nested: {} }],
  [
    {
      list: [
        { key: 'a', id: 1, bv: true },
        { key: 'b', id: 2 },
        { key: 'a', id: 1, bv: false, nv: 2 },
      ],
    },
    {
      list: [
        { key: 'a', id: 1, nv: 3 },
        { key: 'c', id: 3 },
        { key: 'b', id: 2 },
      ],
    },
    {
      list: [
        { key: 'a', id: 1, nv: 3 },
        { key: 'c', id: 3 },
        { key: 'b', id: 2 },
      ],
    },
  ],
  [
    {
      list: [
        { key: 'a', id: 1, nv: 1 },
        { key: 'a', id: 1, nv: 2 },
      ],
    },
    {},
    {
      list: [
        { key: 'a', id: 1, nv: 1 },
        { key: 'a', id: 1, nv: 2 },
      ],
    },
  ],
])('%j applied with %j is %j', (live, config, result) => {
  expect(mergeTyped(live, config, TYPE)).toEqual(result);
});

test('fields outside the configuration are shared with the live object', () => {
  const live = { nested: { a: 1 }, list: items('ab') };
  expect(mergeTyped(live, { nested: { a: 1 }, list: items('a') }, TYPE)).toBe(live);
});

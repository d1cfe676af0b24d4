import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject, MutableObject } from './json.ts';
import { isObject, jsonEquals } from './json.ts';
import { applyMergePatch } from './merge-patch.ts';

// The table of RFC 7386, appendix A, as far as documents are objects.
test.each<[JsonObject, JsonObject, JsonObject]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j patched with %j is %j', (document, patch, expected) => {
  expect(applyMergePatch(document, patch)).toEqual(expected);
});

test('a patch that is no object is malformed', () => {
  expect(() => applyMergePatch({}, [])).toThrow('Invalid JSON Patch');
});

test('a patch that changes nothing gives back the same object', () => {
  const document = { a: { b: 1 }, c: [1] };
  expect(applyMergePatch(document, { a: { b: 1 }, missing: null })).toBe(document);
});

/** The difference of two documents as a merge patch. */
function difference(from: JsonObject, to: JsonObject): JsonObject {
  const patch: MutableObject = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [a, b] = [from[key], to[key]];
    if (b === undefined) patch[key] = null;
    else if (isObject(a) && isObject(b)) patch[key] = difference(a, b);
    else if (!jsonEquals(a, b)) patch[key] = b;
  }
  return patch;
}

const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.array(fc.integer(), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('node')),
  ),
})).node;
const documents = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value) as fc.Arbitrary<JsonObject>;

test('the difference of two documents leads from the one to the other', () => {
  fc.assert(
    fc.property(documents, documents, (from, to) => {
      const before = structuredClone(from) as Json;
      expect(jsonEquals(applyMergePatch(from, difference(from, to)), to)).toBe(true);
      expect(jsonEquals(from, before)).toBe(true);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messageOf } from '../../base/errors.ts';
import { PatchError } from './errors.ts';
import type { Json } from './json.ts';
import { applyJsonPatch, JSON_PATCH_OPERATIONS_MAX } from './json-patch.ts';

const apply = (document: Json, ...patch: readonly Json[]): Json => applyJsonPatch(document, patch);

const failureOf = (document: Json, patch: unknown): string => {
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    return `${error instanceof PatchError ? error.reason : 'unexpected'}: ${messageOf(error)}`;
  }
  return 'nothing failed';
};

// The examples of RFC 6902, appendix A, as far as they succeed.
test.each<[string, Json, readonly Json[], Json]>([
  ['A.1', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
  [
    'A.2',
    { foo: ['bar', 'baz'] },
    [{ op: 'add', path: '/foo/1', value: 'qux' }],
    { foo: ['bar', 'qux', 'baz'] },
  ],
  ['A.3', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  ['A.4', { foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] }],
  ['A.5', { baz: 'qux' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo' }],
  [
    'A.6',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'A.7',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  [
    'A.10',
    { foo: 'bar' },
    [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    { foo: 'bar', child: { grandchild: {} } },
  ],
  ['A.14', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
  [
    'A.16',
    { foo: ['bar'] },
    [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    { foo: ['bar', ['abc', 'def']] },
  ],
  ['the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
  ['an index from the end', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/-1' }], { a: [1, 2] }],
  ['replace of an absent key', { a: {} }, [{ op: 'replace', path: '/a/b', value: 1 }], { a: { b: 1 } }],
  ['test of an absent key for null', {}, [{ op: 'test', path: '/a', value: null }], {}],
])('%s applies', (_name, document, patch, expected) => {
  expect(applyJsonPatch(document, patch)).toEqual(expected);
});

test.each<[Json, string]>([
  [
    { op: 'add', path: '/x/y', value: 1 },
    'add operation does not apply: doc is missing path: "/x/y": missing value',
  ],
  [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
  [
    { op: 'add', path: '/list/7', value: 1 },
    "error in add for path: '/list/7': Unable to access invalid index: 7: invalid index referenced",
  ],
  [
    { op: 'add', path: '/list/a', value: 1 },
    `error in add for path: '/list/a': value was not a proper array index: 'a': strconv.Atoi: parsing "a": invalid syntax`,
  ],
  [
    { op: 'remove', path: '/nope' },
    "error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
  ],
  [
    { op: 'remove', path: '/list/9' },
    "error in remove for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
  ],
  [
    { op: 'replace', path: '/list/9', value: 1 },
    'replace operation does not apply: doc is missing key: /list/9: missing value',
  ],
  [
    { op: 'replace', path: '/a/b/c', value: 1 },
    'replace operation does not apply: doc is missing path: /a/b/c: missing value',
  ],
  [{ op: 'test', path: '/a', value: 2 }, 'testing value /a failed: test failed'],
  [
    { op: 'test', path: '/x/y', value: 2 },
    'test operation does not apply: is missing path: /x/y: missing value',
  ],
  [
    { op: 'move', path: '/b' },
    'move operation failed to decode from: operation, missing from field: missing value',
  ],
  [
    { op: 'copy', from: '/x/y', path: '/b' },
    'copy operation does not apply: doc is missing from path: /x/y: missing value',
  ],
  [{ op: 'frob', path: '/a' }, 'Unexpected kind: frob'],
  [{ path: '/a' }, 'Unexpected kind: unknown'],
])('%j does not apply, in the words of the library', (operation, message) => {
  expect(failureOf({ a: 1, list: [0] }, [operation])).toBe(`PatchDoesNotApply: ${message}`);
});

test('a patch that is no list of objects is malformed', () => {
  expect([failureOf({}, {}), failureOf({}, ['add'])]).toEqual([
    'PatchMalformed: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    'PatchMalformed: json: cannot unmarshal string into Go value of type jsonpatch.Operation',
  ]);
});

test('too many operations are refused before the first is applied', () => {
  const patch = Array.from({ length: JSON_PATCH_OPERATIONS_MAX + 1 }, () => ({
    op: 'test',
    path: '/a',
    value: 1,
  }));
  expect(failureOf({ a: 1 }, patch)).toBe(
    'PatchTooLarge: The allowed maximum operations in a JSON patch is 10000, got 10001',
  );
});

test('copies of copies are bounded', () => {
  const patch = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/k${i}` }));
  expect(failureOf({ a: {} }, patch)).toContain('PatchTooLarge');
});

test('a failed test leaves the document and what earlier operations wrote alone', () => {
  const document = { a: { b: [1] } };
  expect(
    failureOf(document, [
      { op: 'add', path: '/a/b/0', value: 0 },
      { op: 'test', path: '/a/b/0', value: 9 },
    ]),
  ).toContain('test failed');
  expect(document).toEqual({ a: { b: [1] } });
});

test('parts that a patch does not change are shared with the input', () => {
  const document = { touched: { x: 1 }, rest: { y: 2 } };
  const result = apply(document, { op: 'add', path: '/touched/z', value: 3 }) as typeof document;
  expect([result.rest === document.rest, result.touched === document.touched]).toEqual([true, false]);
});

test('a copied value does not follow its source', () => {
  expect(
    apply({ a: { x: 1 } }, { op: 'copy', from: '/a', path: '/b' }, { op: 'replace', path: '/a/x', value: 2 }),
  ).toEqual({ a: { x: 2 }, b: { x: 1 } });
});

test('a value of the patch is not written into', () => {
  const value = { x: 1 };
  apply({}, { op: 'add', path: '/a', value }, { op: 'add', path: '/a/y', value: 2 });
  expect(value).toEqual({ x: 1 });
});

test('the key __proto__ is a key', () => {
  const result = apply({}, { op: 'add', path: '/__proto__', value: { polluted: true } });
  expect([Object.keys(result as object), ({} as { polluted?: boolean }).polluted]).toEqual([
    ['__proto__'],
    undefined,
  ]);
});

test('an added value can be tested for and removed again', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string(),
      fc.jsonValue(),
      (document, name, value) => {
        fc.pre(!Object.hasOwn(document, name));
        const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        const before = structuredClone(document);
        expect(
          apply(
            document as Json,
            { op: 'add', path, value: value as Json },
            { op: 'test', path, value: value as Json },
            { op: 'remove', path },
          ),
        ).toEqual(before);
        expect(document).toEqual(before);
      },
    ),
  );
});

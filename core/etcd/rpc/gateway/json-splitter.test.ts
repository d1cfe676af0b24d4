import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonSplitter } from './json-splitter.ts';

const split = (text: string, cuts: readonly number[]): string[] => {
  const splitter = new JsonSplitter(1024);
  const bytes = Buffer.from(text);
  const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  );
  const values = at.slice(1).flatMap((end, index) => splitter.push(bytes.subarray(at[index], end)));
  const rest = splitter.rest();
  return rest === undefined ? values : [...values, rest];
};

test('finds the values of a body wherever it is cut', () => {
  const value = fc.oneof(fc.object(), fc.array(fc.jsonValue()));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), fc.array(fc.nat({ max: 500 })), (values, cuts) => {
      const found = split(values.map((one) => JSON.stringify(one)).join(' \n'), cuts);
      expect(found.map((text) => text.trim())).toEqual(values.map((one) => JSON.stringify(one)));
    }),
    { numRuns: 200 },
  );
});

test('half a value is the rest, and a value may follow another without space', () => {
  expect(split('{"a":"}\\""}{"b":[', [])).toEqual(['{"a":"}\\""}', '{"b":[']);
  expect(split(' \n', [])).toEqual([]);
});

test('says when a value is longer than allowed', () => {
  const splitter = new JsonSplitter(8);
  splitter.push(Buffer.from('{"a":'));
  expect(splitter.isTooLong).toBe(false);
  splitter.push(Buffer.from('"aaaaaa'));
  expect(splitter.isTooLong).toBe(true);
});

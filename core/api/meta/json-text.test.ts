import { expect, test } from 'vitest';
import { jsonText, parseJsonText } from './json-text.ts';

test.each([
  '9007199254740993',
  '{"a":9223372036854775807,"b":[-9223372036854775808,1],"c":{"d":"9007199254740993"}}',
  '{"__proto__":{"a":9007199254740993},"e\\"{":[],"f":{},"g":[{"a":[]},{}],"h":null,"i":true,"j":-1.5}',
  '{"a":" 12345678901234567890 [","b":9007199254740995}',
])('%s is written as it was read', (text) => {
  expect(jsonText(parseJsonText(text))).toBe(text);
});

test('only what a number cannot hold becomes a bigint, and beyond int64 a float', () => {
  expect(
    parseJsonText('[1,9007199254740991,9007199254740992,1e20,12345678901234567890,0.1234567890123456789]'),
  ).toEqual([1, 9007199254740991, 9007199254740992n, 1e20, 12345678901234567890, 0.1234567890123456789]);
  expect(Object.keys(parseJsonText('{"__proto__":9007199254740993}') as object)).toEqual(['__proto__']);
  expect(parseJsonText('{"a":9007199254740993,"a":9007199254740995}')).toEqual({ a: 9007199254740995n });
});

test('a text with indents is the one of JSON.stringify', () => {
  const value = { a: [1, { b: 'x' }, []], c: {}, d: undefined, e: null };
  const exact = jsonText({ ...value, n: 2n ** 60n }, 2);
  expect(exact).toBe(JSON.stringify({ ...value, n: 0 }, null, 2).replace('"n": 0', `"n": ${2n ** 60n}`));
});

test('a text that is no JSON is rejected as before', () => {
  expect(() => parseJsonText('{"a":90071992547409930000')).toThrow(SyntaxError);
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(() => jsonText(circle)).toThrow();
});

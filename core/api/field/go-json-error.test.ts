import { expect, test } from 'vitest';
import { goJsonError } from './go-json-error.ts';

test.each([
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['"abc', 'unexpected end of JSON input'],
  ['x', "invalid character 'x' looking for beginning of value"],
  ["'", "invalid character '\\'' looking for beginning of value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['{} {}', "invalid character '{' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\q"', "invalid character 'q' in string escape code"],
  ['"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['{"a":[{"b":[1,{"c":tru}]}]}', "invalid character '}' in literal true (expecting 'e')"],
])('%j is refused with the words of Go', (text, message) => {
  expect(() => JSON.parse(text) as unknown).toThrow();
  expect(goJsonError(text)).toBe(message);
});

import { expect, test } from 'vitest';
import { BODY_DEPTH_MAX, parseJson, parseYaml } from './parse-body.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

test('JSON that nests too deep is never built', () => {
  const deep = (levels: number): Uint8Array => bytes('['.repeat(levels) + ']'.repeat(levels));
  expect(() => parseJson(deep(BODY_DEPTH_MAX))).not.toThrow();
  expect(() => parseJson(deep(BODY_DEPTH_MAX + 1))).toThrow('exceeded max depth');
  expect(() => parseYaml(deep(BODY_DEPTH_MAX + 1))).toThrow(/exceeded max depth/);
});

test('brackets within texts do not nest', () => {
  expect(parseJson(bytes(JSON.stringify({ a: `\\"${'['.repeat(BODY_DEPTH_MAX + 1)}` }))).value).toBeDefined();
});

test('invalid UTF-8 is replaced in JSON and rejected in YAML', () => {
  const bad = Buffer.concat([bytes('{"a":"'), Buffer.from([0xff]), bytes('"}')]);
  expect(parseJson(bad).value).toEqual({ a: '\ufffd' });
  expect(() => parseYaml(bad)).toThrow('invalid leading UTF-8 octet');
});

test('YAML has the values of JSON', () => {
  const { value } = parseYaml(
    bytes('a: 1\nb: "1"\nc: yes\nd: true\ne: null\nf: 2001-01-01\n1: x\n---\nsecond: 1\n'),
  );
  expect(value).toEqual({ a: 1, b: '1', c: 'yes', d: true, e: null, f: '2001-01-01', 1: 'x' });
});

test('duplicate keys are found in both', () => {
  expect(parseJson(bytes('{"a":{"b":1,"b":2}}')).duplicates()).toEqual(['duplicate field "a.b"']);
  expect(parseYaml(bytes('a: 1\na: 2\n"b c": 1\n"b c": 2\n')).duplicates()).toEqual([
    'line 2: key "a" already set in map',
    'line 4: key "b c" already set in map',
  ]);
});

test('aliases that multiply are refused', () => {
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i += 1)
    bomb.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(', ')}]`);
  expect(() => parseYaml(bytes(bomb.join('\n')))).toThrow(/excessive aliasing/);
});

test('YAML that is none says where', () => {
  expect(() => parseYaml(bytes('a: b: c\n'))).toThrow(/^error converting YAML to JSON: yaml: line 1: /);
});

test('integers of 64 bits keep their digits in JSON and YAML', () => {
  const value = { a: 9007199254740993n, b: -9223372036854775808n, c: 12, d: '9007199254740993' };
  const json = '{"a":9007199254740993,"b":-9223372036854775808,"c":12,"d":"9007199254740993"}';
  expect(parseJson(bytes(json)).value).toEqual(value);
  expect(parseYaml(bytes(json)).value).toEqual(value);
  const yaml = 'a: 9007199254740993\nb: -9223372036854775808\nc: 12\nd: "9007199254740993"\n';
  expect(parseYaml(bytes(yaml)).value).toEqual(value);
});

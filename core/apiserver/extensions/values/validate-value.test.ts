import { expect, test } from 'vitest';
import { errorText } from '../../../api/field/field-error.ts';
import type { JsonSchema } from '../structural/json-schema.ts';
import { Structural } from '../structural/structural.ts';
import { Correlated } from './correlate.ts';
import { fieldErrorOf } from './schema-error.ts';
import { compileValidator } from './validate-value.ts';

const errorsOf = (schema: JsonSchema, value: unknown, old?: unknown): string[] => {
  const root = { type: 'object', properties: { x: schema } };
  const correlated =
    old === undefined ? undefined : new Correlated({ x: value }, { x: old }, new Structural(root));
  return compileValidator(root)({ x: value }, correlated).map((error) => errorText(fieldErrorOf('', error)));
};

test.each<[JsonSchema, unknown, string[]]>([
  [{ type: 'integer' }, 'a', ['x: Invalid value: "string": x in body must be of type integer: "string"']],
  [
    { type: 'integer' },
    1.5,
    [
      'x: Invalid value: "number": x in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in x',
    ],
  ],
  [{ type: 'number' }, 1, []],
  [{ type: 'string' }, null, ['x: Invalid value: "null": x in body must be of type string: "null"']],
  [{ type: 'string', nullable: true }, null, []],
  [{ type: 'object' }, [], ['x: Invalid value: "array": x in body must be of type object: "array"']],
  [{ 'x-kubernetes-int-or-string': true }, '80%', []],
  [
    { 'x-kubernetes-int-or-string': true },
    true,
    ['x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"'],
  ],
  [{ type: 'string', maxLength: 2 }, 'abc', ['x: Too long: may not be more than 2 bytes']],
  [{ type: 'string', maxLength: 2 }, '😀😀', []],
  [
    { type: 'string', minLength: 2 },
    'a',
    ['x: Invalid value: "a": x in body should be at least 2 chars long'],
  ],
  [{ type: 'string', pattern: '^a+$' }, 'b', ['x: Invalid value: "b": x in body should match \'^a+$\'']],
  [{ type: 'string', enum: ['a', 'b'] }, 'c', ['x: Unsupported value: "c": supported values: "a", "b"']],
  [{ type: 'integer', maximum: 3 }, 4, ['x: Invalid value: 4: x in body should be less than or equal to 3']],
  [
    { type: 'integer', minimum: 3, exclusiveMinimum: true },
    3,
    ['x: Invalid value: 3: x in body should be greater than 3'],
  ],
  [{ type: 'integer', multipleOf: 3 }, 4, ['x: Invalid value: 4: x in body should be a multiple of 3']],
  [
    { type: 'integer', format: 'int32' },
    2 ** 31,
    ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x'],
  ],
  ...[1.5, 1e20].map((value): [JsonSchema, unknown, string[]] => [
    { type: 'integer', format: 'int64' },
    value,
    [
      'x: Invalid value: "float64": x in body must be of type int64: "float64"',
      '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in x',
    ],
  ]),
  [
    { type: 'array', maxItems: 1, items: { type: 'string' } },
    ['a', 'b'],
    ['x: Too many: 2: must have at most 1 item'],
  ],
  [
    { type: 'array', minItems: 1, items: { type: 'string' } },
    [],
    ['x: Invalid value: 0: x in body should have at least 1 items'],
  ],
  [
    { type: 'array', items: { type: 'string' } },
    ['a', 1],
    ['x[1]: Invalid value: "integer": x[1] in body must be of type string: "integer"'],
  ],
  [{ type: 'object', required: ['a'] }, {}, ['x.a: Required value']],
  [
    { type: 'object', additionalProperties: { type: 'integer' } },
    { k: 'v' },
    ['x.k: Invalid value: "string": x.k in body must be of type integer: "string"'],
  ],
  [{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, ['x: Too many: 2: must have at most 1 item']],
  [
    { type: 'string', format: 'uuid' },
    'no',
    ['x: Invalid value: "no": x in body must be of type uuid: "no"'],
  ],
  [{ type: 'string', format: 'odd-format' }, 'anything', []],
  [
    { type: 'string', format: 'date-time' },
    '2024-13-01T00:00:00Z',
    ['x: Invalid value: "2024-13-01T00:00:00Z": x in body must be of type date-time: "2024-13-01T00:00:00Z"'],
  ],
  [
    {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    { a: 1, b: 1 },
    [
      '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
  [
    { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    {},
    ['<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)', 'x.a: Required value'],
  ],
  [
    { type: 'integer', allOf: [{ minimum: 2 }] },
    1,
    [
      'x: Invalid value: 1: x in body should be greater than or equal to 2',
      '<nil>: Invalid value: "": "x" must validate all the schemas (allOf). None validated',
    ],
  ],
  [
    { type: 'integer', not: { enum: [1] } },
    1,
    ['<nil>: Invalid value: "": "x" must not validate the schema (not)'],
  ],
])('%j holds for %j: %j', (schema, value, errors) => {
  expect(errorsOf(schema, value)).toEqual(errors);
});

test('an unchanged invalid value is not validated again', () => {
  const list: JsonSchema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer', maximum: 5 } },
    },
  };
  expect([
    errorsOf({ type: 'integer', maximum: 5 }, 9, 9),
    errorsOf({ type: 'integer', maximum: 5 }, 9, 8),
    errorsOf(
      list,
      [
        { name: 'b', size: 1 },
        { name: 'a', size: 9 },
      ],
      [{ name: 'a', size: 9 }],
    ),
    errorsOf(list, [{ name: 'a', size: 8 }], [{ name: 'a', size: 9 }]),
  ]).toEqual([
    [],
    ['x: Invalid value: 9: x in body should be less than or equal to 5'],
    [],
    ['x[0].size: Invalid value: 8: x[0].size in body should be less than or equal to 5'],
  ]);
});

test('a pattern that backtracks elsewhere takes no time here', () => {
  expect(errorsOf({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)).toHaveLength(1);
});

test('patterns and long texts count as the work that they are', () => {
  const patternOf = (at: number): string => `^${'(a|b)+'.repeat(30)}${at}$`;
  const properties = Object.fromEntries(
    Array.from({ length: 700 }, (_unused, at) => [`p${at}`, { type: 'string', pattern: patternOf(at) }]),
  );
  const values = Object.fromEntries(Object.keys(properties).map((name) => [name, 'a']));
  const wide = { type: 'string', pattern: '(a?){500}(b?){500}c' };
  const expensive = ['<nil>: Invalid value: "": the schema is too expensive for an object of this size'];
  expect(errorsOf({ type: 'object', properties } as JsonSchema, values)).toEqual(expensive);
  expect(errorsOf(wide as JsonSchema, 'a'.repeat(100_000))).toEqual(expensive);
  expect(errorsOf({ type: 'string', pattern: '^[a-z]*$' } as JsonSchema, 'a'.repeat(100_000))).toEqual([]);
});

test('an object that its schema makes too expensive is refused within a bounded time', () => {
  const alternatives = Array.from({ length: 2_000 }, (_unused, at) => ({ enum: [`a${at}`] }));
  const schema: JsonSchema = { type: 'array', items: { type: 'string', anyOf: alternatives } };
  const list = Array.from({ length: 20_000 }, () => 'none');
  expect(errorsOf(schema, list)).toEqual([
    '<nil>: Invalid value: "": the schema is too expensive for an object of this size',
  ]);
});

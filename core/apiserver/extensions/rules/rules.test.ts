import { expect, test } from 'vitest';
import { errorText } from '../../../api/field/field-error.ts';
import type { JsonSchema, ValidationRule } from '../structural/json-schema.ts';
import { Structural } from '../structural/structural.ts';
import { Correlated } from '../values/correlate.ts';
import { followFieldPath } from './field-path.ts';
import { loadRules } from './load-rules.ts';

const check = async (
  spec: JsonSchema,
  rules: readonly ValidationRule[],
  value: unknown,
  old?: unknown,
): Promise<string[]> => {
  const schema = new Structural({
    type: 'object',
    properties: { spec: { ...spec, 'x-kubernetes-validations': rules } },
  });
  const run = await loadRules(schema);
  const object = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec: value };
  const before = old === undefined ? undefined : { ...object, spec: old };
  const correlated = before && new Correlated(object, before, schema);
  return run!(object, before, correlated).map(
    (error) => `${error.isTolerated ? 'tolerated: ' : ''}${errorText(error)}`,
  );
};

const INTEGERS: JsonSchema = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
};

test('a rule that fails is reported with its message, its place and its reason', async () => {
  const failing = (rule: Partial<ValidationRule>): Promise<string[]> =>
    check(INTEGERS, [{ rule: 'self.a > self.b', ...rule }], { a: 1, b: 2 });
  expect([
    await failing({}),
    await failing({ message: ' a must win ' }),
    await failing({ messageExpression: "'a is ' + string(self.a)" }),
    await failing({ messageExpression: "''", message: 'plain' }),
    await failing({ fieldPath: '.a', reason: 'FieldValueForbidden' }),
    await failing({ reason: 'FieldValueRequired' }),
    await check({ type: 'integer' }, [{ rule: 'self > 5' }], 3),
  ]).toEqual([
    ['spec: Invalid value: failed rule: self.a > self.b'],
    ['spec: Invalid value: a must win'],
    ['spec: Invalid value: a is 1'],
    ['spec: Invalid value: plain'],
    ['spec.a: Forbidden: failed rule: self.a > self.b'],
    ['spec: Required value: failed rule: self.a > self.b'],
    ['spec: Invalid value: 3: failed rule: self > 5'],
  ]);
});

test('rules of the root see the kind and the name, whether or not the schema declares them', async () => {
  const rules = [
    { rule: "self.metadata.name.startsWith('a') && self.kind == 'X' && self.apiVersion == 'x/v1'" },
    { rule: "!has(self.metadata.generateName) && self.metadata.name == 'b'", message: 'must be b' },
  ];
  for (const properties of [{}, { metadata: { type: 'object' as const } }]) {
    const schema = new Structural({ type: 'object', properties, 'x-kubernetes-validations': rules });
    const run = await loadRules(schema);
    const object = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a', labels: { b: 'c' } } };
    expect(run!(object, undefined, undefined).map(errorText)).toEqual(['<nil>: Invalid value: must be b']);
  }
});

test('transition rules run on updates only, unless they can do without an old value', async () => {
  const rule = { rule: 'self.a >= oldSelf.a' };
  const optional = { rule: 'oldSelf.hasValue() || self.a == 0', optionalOldSelf: true };
  expect([
    await check(INTEGERS, [rule], { a: 1 }),
    await check(INTEGERS, [rule], { a: 1 }, { a: 2 }),
    await check(INTEGERS, [optional], { a: 1 }),
    await check(INTEGERS, [optional], { a: 1 }, { a: 2 }),
  ]).toEqual([
    [],
    ['spec: Invalid value: failed rule: self.a >= oldSelf.a'],
    ['spec: Invalid value: failed rule: oldSelf.hasValue() || self.a == 0'],
    [],
  ]);
});

test('a rule that an unchanged value broke before is tolerated, a transition rule is not', async () => {
  expect([
    await check(INTEGERS, [{ rule: 'self.a > 5' }], { a: 1 }, { a: 1 }),
    await check(INTEGERS, [{ rule: 'self.a > 5' }], { a: 2 }, { a: 1 }),
    await check(INTEGERS, [{ rule: 'self.a > oldSelf.a' }], { a: 1 }, { a: 1 }),
  ]).toEqual([
    ['tolerated: spec: Invalid value: failed rule: self.a > 5'],
    ['spec: Invalid value: failed rule: self.a > 5'],
    ['spec: Invalid value: failed rule: self.a > oldSelf.a'],
  ]);
});

test('an evaluation error names the failing expression', async () => {
  expect(await check(INTEGERS, [{ rule: 'self.a / self.b > 0' }], { a: 1, b: 0 })).toEqual([
    'spec: Invalid value: "object": division by zero evaluating rule: self.a / self.b > 0',
  ]);
});

test('rules that cost too much end the validation', async () => {
  const items: JsonSchema = { type: 'array', items: { type: 'integer' } };
  const list = Array.from({ length: 5_000 }, (_unused, at) => at);
  const errors = await check(
    items,
    [{ rule: 'self.all(a, self.all(b, a + b >= 0))' }, { rule: 'false' }],
    list,
  );
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain('no further validation rules will be run');
});

test('paths of fields follow the schema', () => {
  const schema = new Structural({
    type: 'object',
    properties: {
      'a.b': { type: 'string' },
      map: { type: 'object', additionalProperties: { type: 'string' } },
    },
  });
  const pathOf = (text: string): unknown => {
    const found = followFieldPath(text, schema);
    return 'path' in found ? found.path : found.problem;
  };
  expect([pathOf("['a.b']"), pathOf(".map['k']"), pathOf('.map.k'), pathOf('.nope'), pathOf('map')]).toEqual([
    'a.b',
    'map[k]',
    'map[k]',
    'does not refer to a valid field',
    'expected [ or . but got: map',
  ]);
});

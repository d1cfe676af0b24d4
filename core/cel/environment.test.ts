import { expect, test } from 'vitest';
import { createEnvironment } from './index.ts';
import { BOOL, DYN } from './types/type.ts';

const environment = createEnvironment({ version: '1.36', variables: { object: DYN } });

const evaluate = (text: string, object: unknown = {}): unknown => {
  const compiled = environment.compile(text);
  if (!compiled.ok) return compiled.text;
  const evaluated = compiled.program.evaluate({ object });
  return evaluated.ok ? evaluated.value : { error: evaluated.error };
};

test('an expression selects from data as JSON gives it', () => {
  const object = { spec: { replicas: 3, hosts: ['a', 'b'] } };
  expect(evaluate('object.spec.replicas * 2 == 6 && "b" in object.spec.hosts', object)).toBe(true);
});

test('a failure on one side of || is absorbed by the other', () => {
  expect(evaluate('object.missing == 1 || 1 + 1 == 2')).toBe(true);
  expect(evaluate('object.missing == 1 && true')).toEqual({ error: 'no such key: missing' });
});

test('ints have 64 bits and report an overflow', () => {
  expect(evaluate('9007199254740993 - 1')).toBe(9007199254740992n);
  expect(evaluate('9223372036854775807 + 1')).toEqual({ error: 'integer overflow' });
});

test('an error points at its place in the source', () => {
  expect(evaluate('object.size() +\n  missing')).toBe(
    "ERROR: <input>:2:3: undeclared reference to 'missing' (in container '')\n |   missing\n | ..^",
  );
});

test('an expression of another type than expected is rejected', () => {
  expect(environment.compile('1 + 1', { expectedType: BOOL })).toMatchObject({
    ok: false,
    reason: 'unexpected-type',
  });
});

test('an evaluation that costs more than its limit is cancelled', () => {
  const compiled = environment.compile('object.list.all(x, x > 0)');
  if (!compiled.ok) throw new Error(compiled.text);
  const list = Array.from({ length: 100 }, (_, index) => index + 1);
  expect(compiled.program.evaluate({ object: { list } }, { costLimit: 50 })).toMatchObject({
    ok: false,
    reason: 'cost-limit',
    error: 'operation cancelled: actual cost limit exceeded',
  });
});

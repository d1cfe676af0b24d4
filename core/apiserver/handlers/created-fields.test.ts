import { expect, test } from 'vitest';
import type { FieldManager, UpdateRequest } from '../../api/apply/index.ts';
import type { JsonObject } from '../../api/patch/json.ts';
import { rememberingShapes, shapeOf } from './created-fields.ts';

const counting = () => {
  let updates = 0;
  const manager: FieldManager = {
    update({ next, manager: name, time }) {
      updates += 1;
      const entry = {
        manager: name,
        operation: 'Update',
        apiVersion: 'v1',
        time,
        fieldsType: 'FieldsV1',
        fieldsV1: { n: updates },
      };
      return { ...next, metadata: { ...(next['metadata'] as JsonObject), managedFields: [entry] } };
    },
    apply: ({ config }) => config,
  };
  return { fields: rememberingShapes(manager), updates: () => updates };
};

const request = (next: JsonObject, more: Partial<UpdateRequest> = {}): UpdateRequest => ({
  live: undefined,
  next,
  manager: 'a',
  time: 't1',
  ...more,
});
const object = (name: string, data: JsonObject): JsonObject => ({
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

test('objects of one shape and one manager are worked out once, each with its own time', () => {
  const { fields, updates } = counting();
  fields.update(request(object('x', { k: '1' })));
  const second = fields.update(request(object('y', { k: '2' }), { time: 't2' }));
  expect({ updates: updates(), second }).toEqual({
    updates: 1,
    second: {
      kind: 'ConfigMap',
      metadata: {
        name: 'y',
        managedFields: [
          {
            manager: 'a',
            operation: 'Update',
            apiVersion: 'v1',
            time: 't2',
            fieldsType: 'FieldsV1',
            fieldsV1: { n: 1 },
          },
        ],
      },
      data: { k: '2' },
    },
  });
});

test.each<[string, UpdateRequest]>([
  ['another member', request(object('x', { k: '1', l: '1' }))],
  ['another manager', request(object('x', { k: '1' }), { manager: 'b' })],
  ['null instead of a value', request(object('x', { k: null }))],
  ['an update', request(object('x', { k: '1' }), { live: object('x', { k: '0' }) })],
  ['entries of its own', request({ ...object('x', { k: '1' }), metadata: { name: 'x', managedFields: [] } })],
])('%s is computed separately', (_what, other) => {
  const { fields, updates } = counting();
  fields.update(request(object('x', { k: '1' })));
  fields.update(other);
  expect(updates()).toBe(2);
});

test('items of lists count, for they may be named by what they hold', () => {
  const of = (name: string) => shapeOf({ spec: { containers: [{ name }] } });
  expect(of('a')).not.toBe(of('b'));
});

test('names cannot be mistaken for structure', () => {
  expect(shapeOf({ a: { b: 1 } })).not.toBe(shapeOf({ 'a{1:b1': 1 }));
});

test('an object with a very long shape has none', () => {
  expect(
    shapeOf({ data: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key-${i}`, ''])) }),
  ).toBeUndefined();
});

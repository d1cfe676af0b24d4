import { expect, test } from 'vitest';
import type { JsonSchema } from './json-schema.ts';
import { withDefaults } from './defaults.ts';
import { coerceEmbedded, embeddedErrors } from './embedded.ts';
import { listTypeErrors } from './list-types.ts';
import { pruneNulls, pruneResource } from './prune.ts';
import { Structural } from './structural.ts';
import { errorText } from '../../../api/field/field-error.ts';

const structural = (properties: Record<string, JsonSchema>, more: JsonSchema = {}): Structural =>
  new Structural({ type: 'object', properties, ...more });

test('unknown fields are pruned and reported unless the schema preserves them', () => {
  const schema = structural({
    spec: {
      type: 'object',
      properties: {
        known: { type: 'string' },
        open: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { closed: { type: 'object', properties: { a: { type: 'string' } } } },
        },
        map: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { a: { type: 'string' } } },
        },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    },
  });
  const unknown: string[] = [];
  const value = {
    apiVersion: 'v1',
    kind: 'K',
    metadata: { name: 'n', anything: 1 },
    odd: 1,
    spec: {
      known: 'x',
      strange: { deep: 1 },
      open: { any: { thing: 1 }, closed: { a: 'x', b: 1 } },
      map: { k: { a: 'x', b: 1 } },
      list: [{ a: 'x' }, { b: 1 }],
    },
  };
  expect(pruneResource(value, schema, unknown)).toEqual({
    apiVersion: 'v1',
    kind: 'K',
    metadata: { name: 'n', anything: 1 },
    spec: {
      known: 'x',
      open: { any: { thing: 1 }, closed: { a: 'x' } },
      map: { k: { a: 'x' } },
      list: [{ a: 'x' }, {}],
    },
  });
  expect(unknown.sort()).toEqual([
    'odd',
    'spec.list[1].b',
    'spec.map.k.b',
    'spec.open.closed.b',
    'spec.strange',
  ]);
});

test('an object with nothing to remove or fill is the same object', () => {
  const schema = structural({
    spec: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
  });
  const value = { spec: { a: 'y' } };
  expect([
    pruneResource(value, schema) === value,
    pruneNulls(value, schema) === value,
    withDefaults(value, schema) === value,
  ]).toEqual([true, true, true]);
});

test('names from the prototype are names like any other', () => {
  const schema = structural({ spec: { type: 'object', additionalProperties: { type: 'string' } } });
  const value = JSON.parse('{"spec":{"__proto__":"x","constructor":"y"}}') as Record<string, unknown>;
  const pruned = pruneResource(value, schema);
  expect(JSON.stringify(pruned)).toBe('{"spec":{"__proto__":"x","constructor":"y"}}');
});

test('defaults fill what is missing and nulls that are not allowed, and what they fill has defaults', () => {
  const schema = structural({
    spec: {
      type: 'object',
      default: {},
      properties: {
        a: { type: 'string', default: 'x' },
        b: { type: 'string', default: 'x', nullable: true },
        c: { type: 'string' },
        list: {
          type: 'array',
          items: { type: 'object', properties: { d: { type: 'integer', default: 1 } } },
        },
        map: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { d: { type: 'integer', default: 1 } } },
        },
      },
    },
  });
  const read = (value: Record<string, unknown>): unknown => withDefaults(pruneNulls(value, schema), schema);
  expect([
    read({}),
    read({ spec: { a: null, b: null, c: null } }),
    read({ spec: { list: [{}], map: { k: {} } } }),
  ]).toEqual([
    { spec: { a: 'x', b: 'x' } },
    { spec: { a: 'x', b: null } },
    { spec: { a: 'x', b: 'x', list: [{ d: 1 }], map: { k: { d: 1 } } } },
  ]);
});

test('items of sets and keyed lists are unique', () => {
  const schema = structural({
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'b'],
      items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } },
    },
  });
  const value = {
    set: ['x', 'y', 'x', 'x'],
    map: [
      { a: 'x', b: 1 },
      { a: 'x', b: 2 },
      { b: 1, a: 'x', c: 1 },
    ],
  };
  expect(listTypeErrors('', value, schema).map(errorText)).toEqual([
    'set[2]: Duplicate value: "x"',
    'map[2]: Duplicate value: {"a":"x","b":1}',
  ]);
});

test('embedded resources have kinds and metadata of their own', () => {
  const schema = structural({
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  });
  const unknown: string[] = [];
  const value = { template: { apiVersion: 'v1', metadata: { name: 'UPPER/', odd: 1 }, any: 1 } };
  const coerced = coerceEmbedded(value, schema, '', unknown);
  expect([coerced, unknown]).toEqual([
    { template: { apiVersion: 'v1', metadata: { name: 'UPPER/' }, any: 1 } },
    ['template.metadata.odd'],
  ]);
  expect(embeddedErrors('', coerced, schema).map(errorText)).toEqual([
    'template.kind: Required value',
    'template.metadata.name: Invalid value: "UPPER/": may not contain \'/\'',
  ]);
});

import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { ALL_VERBS } from '../../api/scheme/index.ts';
import { parseFieldSelector, parseLabelSelector } from '../../api/selector/index.ts';
import { forbidden } from '../../api/field/field-error.ts';
import type { ResourceDefinition } from './generic/resource-definition.ts';
import { specStrategy, statusStrategy } from './strategies/spec-status.ts';
import { changing, NO_OPTIONS, refusalOf, scopeOf, storageIn, testRegistry } from './testing/fixtures.ts';

const GVK = { group: 'example.com', version: 'v1', kind: 'Widget' };
const sizeOf = (object: KubernetesObject): unknown => (object['spec'] as { size?: number }).size;
const strategy = specStrategy({ hasStatus: true });
const WIDGETS: ResourceDefinition = {
  type: {
    ...GVK,
    listKind: 'WidgetList',
    plural: 'widgets',
    singular: 'widget',
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    subresources: [{ name: 'status', kind: GVK, verbs: ['get', 'patch', 'update'], connects: false }],
    storage: { prefix: '/registry/example.com/widgets/', gvk: GVK },
  },
  struct: undefined,
  findStruct: () => undefined,
  convert: (object) => object,
  validateCreate: (object) => (sizeOf(object) === 0 ? [forbidden('spec.size', 'too small')] : []),
  validateUpdate: () => [],
  fieldsOf: (object) => (label) => (label === 'spec.size' ? String(sizeOf(object)) : undefined),
  strategy,
  partStrategy: (name) => (name === 'status' ? statusStrategy(strategy, { hasStatus: true }) : undefined),
};

const widget = (name: string, size: number): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size },
});

test('a resource that is added at run time is stored by its own definition, and its objects outlive it', async () => {
  const opened = testRegistry();
  const { registry } = opened;
  expect(registry.storageOf('example.com', 'widgets', '')).toBeUndefined();
  const added = registry.add(WIDGETS);
  const widgets = storageIn(opened, 'example.com', 'widgets');
  await widgets.create(scopeOf(), widget('small', 1), NO_OPTIONS);
  await widgets.create(scopeOf(), widget('large', 9), NO_OPTIONS);
  expect(await refusalOf(widgets.create(scopeOf(), widget('none', 0), NO_OPTIONS))).toBe(
    '422 Invalid: Widget.example.com "none" is invalid: spec.size: Forbidden: too small',
  );
  const { items } = await widgets.list(scopeOf(), {
    labelSelector: parseLabelSelector(''),
    fieldSelector: parseFieldSelector('spec.size=9'),
    resourceVersion: '',
    resourceVersionMatch: '',
    continueToken: '',
    limit: 0,
  });
  const status = storageIn(opened, 'example.com', 'widgets', 'status');
  const { held } = await status.update(
    scopeOf(),
    'large',
    changing((object) => ({ ...object, spec: { size: 5 }, status: { ready: true } })),
  );
  expect([
    items.map(({ object }) => object.metadata?.name),
    sizeOf(held.object),
    held.object['status'],
  ]).toEqual([['large'], 9, { ready: true }]);
  expect(registry.objectCounts()).toContainEqual({
    resource: { group: 'example.com', resource: 'widgets' },
    count: 2,
  });

  added.dispose();
  expect([
    registry.storageOf('example.com', 'widgets', ''),
    registry.storageOf('example.com', 'widgets', 'status'),
    registry.objectCounts().some(({ resource }) => resource.resource === 'widgets'),
  ]).toEqual([undefined, undefined, false]);

  registry.add(WIDGETS);
  const again = storageIn(opened, 'example.com', 'widgets');
  const { object } = await again.get(scopeOf(), 'small', { resourceVersion: '' });
  expect(sizeOf(object)).toBe(1);
  registry.close();
});

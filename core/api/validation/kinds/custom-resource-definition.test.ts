import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import { rules } from '../testing/kinds.ts';
import { stored, texts } from '../testing/objects.ts';

const { create, update } = rules('CustomResourceDefinition', 'apiextensions.k8s.io');

const schema = (spec: Obj = { type: 'object' }): Obj => ({
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec,
  },
});
const version = (change: Obj = {}, openAPIV3Schema: Obj = schema()): Obj => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema },
  ...change,
});
const definition = (spec: Obj = {}, rest: Obj = {}): Obj => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [version()],
    conversion: { strategy: 'None' },
    ...spec,
  },
  status: { storedVersions: ['v1'] },
  ...rest,
});
const withSchema = (spec: Obj): Obj => definition({ versions: [version({}, schema(spec))] });
const SPEC = 'spec.validation.openAPIV3Schema.properties[spec]';

test.each<[string, Obj]>([
  ['one version', definition()],
  [
    'columns, status and scale',
    definition({
      versions: [
        version({
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
          additionalPrinterColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
        }),
      ],
    }),
  ],
  [
    'a list of maps, a port by number or name, and restrictions',
    withSchema({
      type: 'object',
      required: ['ports'],
      properties: {
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', pattern: '^[a-z]+$' },
              target: {
                'x-kubernetes-int-or-string': true,
                anyOf: [{ type: 'integer' }, { type: 'string' }],
              },
            },
          },
        },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
      },
      oneOf: [{ required: ['labels'] }, { properties: { free: {} } }],
    }),
  ],
  [
    'a webhook that converts',
    definition({
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { service: { name: 's', namespace: 'n', port: 443, path: '/convert' } },
          conversionReviewVersions: ['v1'],
        },
      },
    }),
  ],
])('a definition with %s passes', (_what, object) => {
  expect(texts(create(object))).toEqual([]);
});

test.each<[string, Obj, readonly string[]]>([
  [
    'a name that is not made of its parts',
    definition({}, { metadata: { name: 'gadgets.example.com' } }),
    ['metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  [
    'no schema',
    definition({ versions: [version({ schema: undefined })] }),
    ['spec.versions[0].schema.openAPIV3Schema: Required value'],
  ],
  [
    'a field without a type',
    withSchema({ type: 'object', properties: { a: {} } }),
    [`${SPEC}.properties[a].type: Required value: must not be empty for specified object fields`],
  ],
  [
    'a root that is no object',
    definition({ versions: [version({}, { type: 'array', items: { type: 'string' } })] }),
    ['spec.validation.openAPIV3Schema.type: Invalid value: "array": must be object at the root'],
  ],
  [
    'a type inside of anyOf',
    withSchema({ type: 'object', properties: { a: { type: 'string', anyOf: [{ type: 'string' }] } } }),
    [`${SPEC}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    'rules inside of allOf, anyOf, oneOf and not',
    withSchema({
      type: 'object',
      properties: {
        a: {
          type: 'string',
          allOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }],
          anyOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }],
          oneOf: [{ 'x-kubernetes-validations': [] }],
          not: { 'x-kubernetes-validations': [{ rule: 'true' }] },
        },
      },
    }),
    ['allOf[0]', 'anyOf[0]', 'not'].map(
      (part) =>
        `${SPEC}.properties[a].${part}.x-kubernetes-validations: Forbidden: must be empty to be structural`,
    ),
  ],
  [
    'a restriction of a field that is not there',
    withSchema({ type: 'object', allOf: [{ properties: { a: { minLength: 1 } } }] }),
    [`${SPEC}.properties[a]: Required value: because it is defined in ${SPEC}.allOf[0].properties[a]`],
  ],
  [
    'metadata of its own',
    definition({
      versions: [
        version(
          {},
          {
            type: 'object',
            properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
          },
        ),
      ],
    }),
    [
      'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  ],
  [
    'words that schemas may not use',
    withSchema({
      type: 'object',
      $ref: '#/x',
      properties: { a: { type: 'array', uniqueItems: true, items: { type: 'str' } } },
    }),
    [
      `${SPEC}.$ref: Forbidden: $ref is not supported`,
      `${SPEC}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      `${SPEC}.properties[a].items.type: Unsupported value: "str": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  ],
  [
    'keys that items may lack, and sets of what can be changed',
    withSchema({
      type: 'object',
      properties: {
        a: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id', 'zone'],
          items: {
            type: 'object',
            nullable: true,
            properties: { id: { type: 'string' }, zone: { type: 'string', default: 'x', nullable: true } },
          },
        },
        b: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } },
      },
    }),
    [
      `${SPEC}.properties[a].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map`,
      `${SPEC}.properties[a].items.properties[id].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      `${SPEC}.properties[a].items.properties[zone].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
      `${SPEC}.properties[b].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
  ],
  [
    'a list of maps without its key',
    withSchema({
      type: 'object',
      properties: {
        a: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
          items: { type: 'object', properties: { name: { type: 'string' } } },
        },
      },
    }),
    [
      `${SPEC}.properties[a].x-kubernetes-list-map-keys: Invalid value: ["id"]: entries must all be names of item properties`,
    ],
  ],
  [
    'no version to store',
    definition({ versions: [version({ storage: false })] }, { status: { storedVersions: ['v1'] } }),
    [
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
    ],
  ],
  [
    'a stored version that is gone',
    definition({}, { status: { storedVersions: ['v1', 'v0'] } }),
    [
      'status.storedVersions[1]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 and removes v0 from status.storedVersions',
    ],
  ],
  [
    'a kind that is its own list, and no scope',
    definition({
      scope: '',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'Widget' },
    }),
    [
      'spec.scope: Required value',
      'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
    ],
  ],
  [
    'a bad column and a scale outside of the spec',
    definition({
      versions: [
        version({
          subresources: { scale: { specReplicasPath: '.status.n', statusReplicasPath: '' } },
          additionalPrinterColumns: [{ name: 'n', type: 'text', jsonPath: 'spec' }],
        }),
      ],
    }),
    [
      'spec.subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec',
      'spec.subresources.scale.statusReplicasPath: Required value',
      'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
    ],
  ],
  [
    'a conversion without a webhook',
    definition({ conversion: { strategy: 'Webhook' } }),
    [
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions: Required value',
    ],
  ],
  [
    'a group of the community without approval',
    definition({ group: 'x.k8s.io' }, { metadata: { name: 'widgets.x.k8s.io' } }),
    [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ],
])('a definition with %s is rejected', (_what, object, expected) => {
  expect(texts(create(object))).toEqual(expected);
});

const established = { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] };

test('an established definition keeps its kind, its scope and its group', () => {
  const before = definition({}, { status: established });
  const names = { plural: 'widgets', singular: 'widget', kind: 'Gadget', listKind: 'WidgetList' };
  const after = definition({ scope: 'Cluster', names }, { status: established });
  expect(texts(update(stored(after), stored(before)))).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Gadget": field is immutable',
  ]);
});

test('a schema that was stored under older rules may stay, a changed one is held to the new', () => {
  const before = withSchema({ type: 'object', properties: { a: {} } });
  expect(texts(update(stored({ ...before }), stored(before)))).toEqual([]);
  const after = withSchema({ type: 'object', properties: { a: {}, b: { type: 'string' } } });
  expect(texts(update(stored(after), stored(before)))).toHaveLength(1);
});

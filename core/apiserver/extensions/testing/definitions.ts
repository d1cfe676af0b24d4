import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { JsonSchema } from '../structural/json-schema.ts';

/** A schema for widgets with a bit of everything. */
export const WIDGET_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 100 },
        color: { type: 'string', enum: ['red', 'green'], default: 'red' },
        port: { 'x-kubernetes-int-or-string': true },
        replicas: { type: 'integer', default: 1 },
        parts: {
          type: 'array',
          maxItems: 10,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string', maxLength: 20 }, weight: { type: 'integer' } },
          },
        },
        extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
      'x-kubernetes-validations': [
        {
          rule: "self.size <= 50 || self.color == 'green'",
          message: 'large widgets must be green',
        },
        { rule: 'self.size >= oldSelf.size', messageExpression: "'widgets cannot shrink'" },
      ],
    },
    status: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
    },
  },
};

interface VersionOptions {
  readonly name?: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: JsonSchema;
  readonly more?: Readonly<Record<string, unknown>>;
}

export const versionOf = ({
  name = 'v1',
  served = true,
  storage = true,
  schema = WIDGET_SCHEMA,
  more = {},
}: VersionOptions = {}): Record<string, unknown> => ({
  name,
  served,
  storage,
  schema: { openAPIV3Schema: schema },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color' },
  ],
  ...more,
});

/** Widgets of example.com, as they are posted. */
export const widgetDefinition = (
  versions: readonly Record<string, unknown>[] = [versionOf()],
  more: Readonly<Record<string, unknown>> = {},
): KubernetesObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
      categories: ['all'],
    },
    versions,
    conversion: { strategy: 'None' },
    ...more,
  },
});

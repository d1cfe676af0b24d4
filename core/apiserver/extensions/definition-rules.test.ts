import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { JsonSchema } from './structural/json-schema.ts';
import { versionOf, WIDGET_SCHEMA, widgetDefinition } from './testing/definitions.ts';
import { DEFINITIONS, servedExtensions, widget, WIDGETS } from './testing/served-extensions.ts';

const server = servedExtensions();
const ask: ReturnType<typeof server>['ask'] = (...request) => server().ask(...request);
const define: ReturnType<typeof server>['define'] = (definition) => server().define(definition);

test('rules that cannot be compiled or cost too much are refused with the definition', async () => {
  const withRules = (rules: readonly object[]): KubernetesObject =>
    widgetDefinition([
      versionOf({
        schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: { list: { type: 'array', items: { type: 'string' } } },
              'x-kubernetes-validations': rules as never,
            },
          },
        },
      }),
    ]);
  const refusal = async (rule: object): Promise<unknown> =>
    (await ask('POST', DEFINITIONS, withRules([rule]))).body.message;
  const at = 'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]';
  expect([
    await refusal({ rule: 'self.list.all(a, self.list.all(b, a == b))' }),
    await refusal({ rule: '  ' }),
    await refusal({ rule: 'true', reason: 'Odd' }),
    String(await refusal({ rule: 'self.missing == 1' })).split('\n')[0],
  ]).toEqual([
    `CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: [${at}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared), ${at}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema, spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)]`,
    `CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: ${at}.rule: Required value: rule is not specified`,
    `CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: ${at}.reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
    `CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: ${at}.rule: Invalid value: {"Rule":"self.missing == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'missing'`,
  ]);
});

test.each<[string, JsonSchema, object, string]>([
  [
    'a pattern that is none',
    { type: 'object', properties: { a: { type: 'string', pattern: '([' } } },
    {},
    'properties[a].pattern: Invalid value: "([": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[`',
  ],
  [
    'a key that items may lack',
    {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: { type: 'string' } } },
        },
      },
    },
    {},
    'properties[l].items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
  ],
  [
    'a default of another type',
    { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
    {},
    'properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
  ],
])('%s is refused with the definition', async (_what, schema, more, why) => {
  const { code, body } = await ask(
    'POST',
    DEFINITIONS,
    widgetDefinition([versionOf({ schema, more: { subresources: {}, ...more } })]),
  );
  expect([code, body.message]).toEqual([
    422,
    `CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: spec.validation.openAPIV3Schema.${why}`,
  ]);
});

test('a format that nothing checks is warned of when it is new', async () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: { type: 'string', format: 'zzz' }, b: { type: 'string', format: 'date-time' } },
  };
  const { code, warnings } = await ask(
    'POST',
    DEFINITIONS,
    widgetDefinition([versionOf({ schema, more: { subresources: {} } })]),
  );
  const patched = await ask(
    'PATCH',
    `${DEFINITIONS}/widgets.example.com`,
    { metadata: { labels: { x: 'y' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect([code, warnings, patched.code, patched.warnings]).toEqual([
    201,
    '299 - "unrecognized format \\"zzz\\""',
    200,
    '',
  ]);
});

test('a schema as deep as a body may be neither stalls nor ends the server', async () => {
  let schema: JsonSchema = { type: 'string' };
  for (let depth = 0; depth < 150; depth += 1) schema = { type: 'object', properties: { a: schema } };
  const { code } = await ask('POST', DEFINITIONS, widgetDefinition([versionOf({ schema })]));
  expect([201, 422]).toContain(code);
});

test('a schema that gains a default serves it for objects that were stored before', async () => {
  await define();
  await ask('POST', WIDGETS, widget('a', { size: 5 }));
  const definition = await ask('GET', `${DEFINITIONS}/widgets.example.com`);
  const spec = WIDGET_SCHEMA.properties!['spec']!;
  const schema = {
    ...WIDGET_SCHEMA,
    properties: {
      ...WIDGET_SCHEMA.properties,
      spec: { ...spec, properties: { ...spec.properties, shape: { type: 'string', default: 'round' } } },
    },
  };
  const { code } = await ask('PUT', `${DEFINITIONS}/widgets.example.com`, {
    ...definition.body,
    spec: { ...(definition.body['spec'] as object), versions: [versionOf({ schema })] },
  });
  expect(code).toBe(200);
  await expect
    .poll(async () => (await ask('GET', `${WIDGETS}/a`)).body['spec'])
    .toEqual({ size: 5, color: 'red', replicas: 1, shape: 'round' });
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { Registry as Metrics } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { seededRandom } from '../../base/random.ts';
import type { KubernetesObject, Status } from '../../api/meta/index.ts';
import type { AdmissionChain } from '../admission/attributes.ts';
import { userInfo } from '../server/user.ts';
import { DiscoveryCatalog } from '../discovery/index.ts';
import { apiStage } from '../handlers/index.ts';
import { createInternalInformer, type InternalInformer } from '../informer/internal-informer.ts';
import { createRegistry, type ObjectRegistry } from '../registry/index.ts';
import { MemoryStore } from '../registry/testing/fixtures.ts';
import { runPipeline, type Stage } from '../server/index.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import type { WebhookClient } from '../webhook/webhook-client.ts';
import { definitionErrors, Extensions } from './extensions.ts';
import type { JsonSchema } from './structural/json-schema.ts';
import { versionOf, WIDGET_SCHEMA, widgetDefinition } from './testing/definitions.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const admin = userInfo('admin', ['system:masters']);
const admission: AdmissionChain = { admit: async () => undefined, validate: async () => {} };

let registry: ObjectRegistry;
let catalog: DiscoveryCatalog;
let informer: InternalInformer;
let extensions: Extensions;
let stage: Stage;
let posted: unknown[];
let answerOf: (review: KubernetesObject) => KubernetesObject;

const webhooks: WebhookClient = {
  async post(_target, body) {
    posted.push(body);
    return answerOf(body as KubernetesObject);
  },
  dispose() {},
};

beforeEach(async () => {
  posted = [];
  registry = createRegistry({
    store: new MemoryStore(),
    minor: 36,
    clock: systemClock,
    random: seededRandom(2),
    log: silentLog,
    deepChecks: {
      'CustomResourceDefinition.apiextensions.k8s.io': (definition, before, found) =>
        definitionErrors(definition, before, found, 36),
    },
  });
  catalog = new DiscoveryCatalog(36);
  const user = userInfo('system:apiserver');
  informer = createInternalInformer({ registry, user, clock: systemClock, log: silentLog });
  extensions = new Extensions({
    registry,
    catalog,
    minor: 36,
    user,
    webhooks,
    clock: systemClock,
    log: silentLog,
  });
  await extensions.follow(informer);
  stage = apiStage({
    registry,
    admission,
    minor: 36,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    metrics: new Metrics(),
    endpoints: extensions,
  });
});
afterEach(() => {
  extensions.dispose();
  informer.dispose();
  registry.close();
});

interface Asked {
  readonly code: number;
  readonly text: string;
  readonly body: KubernetesObject & Status;
  readonly warnings: string;
}

const ask = async (
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Asked> => {
  const { context, sent } = fakeContext({
    user: admin,
    method,
    url,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  await runPipeline([stage], context, { clock: systemClock, log: silentLog });
  return {
    code: sent.code,
    text: sent.text(),
    body: JSON.parse(sent.text()) as Asked['body'],
    warnings: String(sent.headers.get('warning') ?? ''),
  };
};

const define = async (definition: KubernetesObject = widgetDefinition()): Promise<void> => {
  const { code, body } = await ask('POST', DEFINITIONS, definition);
  expect([code, body.message]).toEqual([201, undefined]);
  await expect
    .poll(() => catalog.find({ group: 'example.com', version: 'v1' })?.resources.length)
    .toBeGreaterThan(0);
};

const widget = (name: string, spec: object, more: object = {}): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
  ...more,
});

const conditionsOf = (definition: KubernetesObject): string[] =>
  (definition['status'] as { conditions: { type: string; status: string; reason: string }[] }).conditions.map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  );

test('a definition is established and its objects are created, listed, patched and deleted', async () => {
  expect((await ask('GET', WIDGETS)).code).toBe(404);
  await define();
  const definition = await ask('GET', `${DEFINITIONS}/widgets.example.com`);
  expect(conditionsOf(definition.body)).toEqual([
    'NamesAccepted=True NoConflicts',
    'Established=True InitialNamesAccepted',
  ]);
  const created = await ask('POST', WIDGETS, widget('a', { size: 3, odd: 1 }, { status: { replicas: 9 } }));
  expect([
    created.code,
    created.body['spec'],
    created.body['status'],
    created.body.metadata?.generation,
  ]).toEqual([201, { size: 3, color: 'red', replicas: 1 }, undefined, 1]);
  const patched = await ask(
    'PATCH',
    `${WIDGETS}/a`,
    { spec: { size: 4 } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect([patched.code, patched.body.metadata?.generation]).toEqual([200, 2]);
  const status = await ask(
    'PATCH',
    `${WIDGETS}/a/status`,
    { spec: { size: 9 }, status: { replicas: 2, selector: 'a=b' } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect([status.body['spec'], status.body['status'], status.body.metadata?.generation]).toEqual([
    { size: 4, color: 'red', replicas: 1 },
    { replicas: 2, selector: 'a=b' },
    2,
  ]);
  const listed = await ask('GET', WIDGETS);
  expect([listed.body.kind, (listed.body['items'] as KubernetesObject[]).map(({ kind }) => kind)]).toEqual([
    'WidgetList',
    ['Widget'],
  ]);
  expect((await ask('DELETE', `${WIDGETS}/a`)).body.status).toBe('Success');
});

test('what is wrong with an object is reported in the words of upstream', async () => {
  await define();
  const refusal = async (spec: object): Promise<unknown> =>
    (await ask('POST', WIDGETS, widget('a', spec))).body.message;
  expect([
    await refusal({ size: 'x' }),
    await refusal({}),
    await refusal({ size: 3, color: 'blue' }),
    await refusal({ size: 101 }),
    await refusal({ size: 60 }),
    await refusal({ size: 3, parts: [{ name: 'a' }, { name: 'a' }] }),
  ]).toEqual([
    'Widget.example.com "a" is invalid: [spec.size: Invalid value: "string": spec.size in body must be of type integer: "string", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    'Widget.example.com "a" is invalid: [spec.size: Required value, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    'Widget.example.com "a" is invalid: [spec.color: Unsupported value: "blue": supported values: "red", "green", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    'Widget.example.com "a" is invalid: [spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100, spec: Invalid value: large widgets must be green]',
    'Widget.example.com "a" is invalid: spec: Invalid value: large widgets must be green',
    'Widget.example.com "a" is invalid: spec.parts[1]: Duplicate value: {"name":"a"}',
  ]);
});

test('strict requests name fields that the schema does not have, others warn of them', async () => {
  await define();
  const strict = await ask(
    'POST',
    `${WIDGETS}?fieldValidation=Strict`,
    widget('a', { size: 1, odd: { a: 1 } }),
  );
  expect([strict.code, strict.body.message]).toEqual([
    400,
    'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.odd"',
  ]);
  const warned = await ask('POST', `${WIDGETS}?fieldValidation=Warn`, widget('a', { size: 1, odd: 1 }));
  expect([warned.code, warned.warnings]).toEqual([201, '299 - "unknown field \\"spec.odd\\""']);
});

test('a transition rule compares with the old object', async () => {
  await define();
  await ask('POST', WIDGETS, widget('a', { size: 5 }));
  const { code, body } = await ask(
    'PATCH',
    `${WIDGETS}/a`,
    { spec: { size: 4 } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect([code, body.message]).toEqual([
    422,
    'Widget.example.com "a" is invalid: spec: Invalid value: widgets cannot shrink',
  ]);
});

test('two managers apply items of a list with keys, and each keeps its own', async () => {
  await define();
  const apply = (manager: string, spec: object): Promise<Asked> =>
    ask('PATCH', `${WIDGETS}/a?fieldManager=${manager}`, widget('a', spec), {
      'content-type': 'application/apply-patch+yaml',
    });
  expect((await apply('one', { size: 1, parts: [{ name: 'x', weight: 1 }] })).code).toBe(201);
  const second = await apply('two', { parts: [{ name: 'y', weight: 2 }] });
  expect([second.code, (second.body['spec'] as { parts: unknown }).parts]).toEqual([
    200,
    [
      { name: 'x', weight: 1 },
      { name: 'y', weight: 2 },
    ],
  ]);
  const mistyped = await apply('two', { size: 'x' });
  expect(mistyped.body.message).toBe(
    'failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.size: expected numeric (int or float), got string',
  );
  const conflict = await apply('two', { parts: [{ name: 'x', weight: 9 }] });
  expect([conflict.code, conflict.body.message]).toEqual([
    409,
    'Apply failed with 1 conflict: conflict with "one": .spec.parts[name="x"].weight',
  ]);
});

test('paths that no version has are not found', async () => {
  await define();
  const codeOf = async (method: string, url: string): Promise<unknown> => {
    const { code, body } = await ask(method, url, method === 'POST' ? widget('a', { size: 1 }) : undefined);
    return [code, body.message];
  };
  expect([
    await codeOf('GET', `${WIDGETS}/a/odd`),
    await codeOf('GET', '/apis/example.com/v9/namespaces/default/widgets'),
    await codeOf('POST', '/apis/example.com/v1/widgets'),
  ]).toEqual([
    [404, 'widgets.example.com "a" not found'],
    [404, 'the server could not find the requested resource'],
    [404, 'the server could not find the requested resource'],
  ]);
});

test('a scale is read and written where the definition says', async () => {
  await define();
  await ask('POST', WIDGETS, widget('a', { size: 5, replicas: 2 }));
  const read = await ask('GET', `${WIDGETS}/a/scale`);
  expect([read.body.kind, read.body['spec']]).toEqual(['Scale', { replicas: 2 }]);
  const written = await ask('PUT', `${WIDGETS}/a/scale`, { ...read.body, spec: { replicas: 7 } });
  expect([written.code, (await ask('GET', `${WIDGETS}/a`)).body['spec']]).toEqual([
    200,
    { size: 5, replicas: 7, color: 'red' },
  ]);
});

test('a table has the columns of the definition', async () => {
  await define();
  await ask('POST', WIDGETS, widget('a', { size: 5 }));
  const { body } = await ask('GET', WIDGETS, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  const table = body as unknown as {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  };
  expect([table.columnDefinitions.map(({ name }) => name), table.rows.map(({ cells }) => cells)]).toEqual([
    ['Name', 'Size', 'Color'],
    [['a', 5, 'red']],
  ]);
});

test('objects are served in every version, whatever version they were stored in', async () => {
  await define(
    widgetDefinition([versionOf(), versionOf({ name: 'v2', storage: false, more: { subresources: {} } })]),
  );
  await ask('POST', WIDGETS, widget('a', { size: 5 }));
  const other = '/apis/example.com/v2/namespaces/default/widgets';
  const read = await ask('GET', `${other}/a`);
  expect([read.body.apiVersion, read.body['spec']]).toEqual([
    'example.com/v2',
    { size: 5, color: 'red', replicas: 1 },
  ]);
  const created = await ask('POST', other, { ...widget('b', { size: 1 }), apiVersion: 'example.com/v2' });
  expect([created.code, created.body.apiVersion]).toEqual([201, 'example.com/v2']);
  const listed = await ask('GET', WIDGETS);
  expect((listed.body['items'] as KubernetesObject[]).map(({ apiVersion }) => apiVersion)).toEqual([
    'example.com/v1',
    'example.com/v1',
  ]);
});

test('a webhook converts, in one review for a list, and may not change what an object is called', async () => {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
  const conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com/convert' } },
  };
  const renaming = (review: KubernetesObject, rename: (name: string) => string): KubernetesObject => {
    const { uid, desiredAPIVersion, objects } = review['request'] as {
      readonly uid: string;
      readonly desiredAPIVersion: string;
      readonly objects: readonly KubernetesObject[];
    };
    return {
      ...review,
      response: {
        uid,
        result: { status: 'Success' },
        convertedObjects: objects.map((object) => ({
          ...object,
          apiVersion: desiredAPIVersion,
          metadata: { ...object.metadata, name: rename(object.metadata?.name ?? '') },
          converted: desiredAPIVersion,
        })),
      },
    };
  };
  answerOf = (review) => renaming(review, (name) => name);
  await define(
    widgetDefinition([versionOf({ schema }), versionOf({ name: 'v2', storage: false, schema })], {
      conversion,
    }),
  );
  await ask('POST', WIDGETS, widget('a', {}));
  await ask('POST', WIDGETS, widget('b', {}));
  expect(posted).toEqual([]);
  const other = '/apis/example.com/v2/namespaces/default/widgets';
  const listed = await ask('GET', other);
  expect([
    posted.length,
    (listed.body['items'] as KubernetesObject[]).map((object) => [object.apiVersion, object['converted']]),
  ]).toEqual([
    1,
    [
      ['example.com/v2', 'example.com/v2'],
      ['example.com/v2', 'example.com/v2'],
    ],
  ]);
  const stored = await registry.reader.list({ group: 'example.com', resource: 'widgets' }, 'default');
  const inVersion = (version: string): Promise<readonly KubernetesObject[]> =>
    extensions.inVersion(stored, { group: 'example.com', version, resource: 'widgets' });
  expect((await inVersion('v2')).map((object) => object['converted'])).toEqual([
    'example.com/v2',
    'example.com/v2',
  ]);
  await expect(inVersion('v3')).rejects.toThrow('widgets.example.com are not served in version v3');
  const updated = await ask(
    'PATCH',
    `${other}/a`,
    { metadata: { labels: { x: 'y' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect([updated.code, updated.body.apiVersion]).toEqual([200, 'example.com/v2']);
  answerOf = (review) => renaming(review, (name) => `${name}-x`);
  await ask('POST', WIDGETS, widget('c', {}));
  const failed = await ask('GET', `${other}/c`);
  expect([failed.code, failed.body.message]).toEqual([
    500,
    'Internal error occurred: conversion webhook for example.com/v1, Kind=Widget returned invalid object: must have the same name: c != c-x',
  ]);
});

test('a second definition cannot take a kind that the first has', async () => {
  await define();
  const other = widgetDefinition();
  const { spec } = other as unknown as { spec: { names: object } };
  await ask('POST', DEFINITIONS, {
    ...other,
    metadata: { name: 'gadgets.example.com' },
    spec: { ...spec, names: { ...spec.names, plural: 'gadgets', singular: 'gadget', shortNames: [] } },
  });
  await expect
    .poll(async () => {
      const { body } = await ask('GET', `${DEFINITIONS}/gadgets.example.com`);
      return (body['status'] as { conditions?: { message: string }[] }).conditions?.map(
        ({ message }) => message,
      );
    })
    .toEqual(['"WidgetList" is already in use', 'not all names are accepted']);
});

test('a definition that goes takes its objects along', async () => {
  await define();
  await ask('POST', WIDGETS, widget('a', { size: 5 }));
  const deleted = await ask('DELETE', `${DEFINITIONS}/widgets.example.com`);
  expect(conditionsOf(deleted.body).at(-1)).toBe('Terminating=True InstanceDeletionPending');
  await expect.poll(async () => (await ask('GET', `${DEFINITIONS}/widgets.example.com`)).code).toBe(404);
  await expect.poll(() => catalog.find({ group: 'example.com', version: 'v1' })).toBeUndefined();
  await define();
  expect((await ask('GET', WIDGETS)).body['items']).toEqual([]);
});

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

test('integers of 64 bits keep their digits, with rules, list types and apply', async () => {
  const long: JsonSchema = { type: 'integer', format: 'int64' };
  const rule = { rule: 'self.n == 9007199254740993 || self.n > 9007199254740993', message: 'too small' };
  const spec: JsonSchema = {
    type: 'object',
    properties: {
      n: { ...long, minimum: 1 },
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: long, maxItems: 5 },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
    },
    'x-kubernetes-validations': [rule],
  };
  await define(widgetDefinition([versionOf({ schema: { type: 'object', properties: { spec } } })]));
  const body = (n: string, set: string): string =>
    `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"any":{"m":[9223372036854775807]},"n":${n},"set":${set}}}`;
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const set = '[9007199254740992,9007199254740993]';
  const whole = `{"any":{"m":[9223372036854775807]},"n":9007199254740993,"set":${set}}`;
  const created = await ask('POST', WIDGETS, body('9007199254740993', set));
  const applied = await ask(
    'PATCH',
    `${WIDGETS}/a?fieldManager=m&force=true`,
    body('9007199254740993', set),
    apply,
  );
  const read = await ask('GET', `${WIDGETS}/a`);
  expect([created, applied, read].map(({ code, text }) => [code, text.includes(`"spec":${whole}`)])).toEqual([
    [201, true],
    [200, true],
    [200, true],
  ]);
  expect(applied.text).toContain('"v:9007199254740993":{}');
  const refused = await ask('POST', WIDGETS, body('9007199254740992', '[9007199254740993,9007199254740993]'));
  expect(refused.body.message).toBe(
    'Widget.example.com "a" is invalid: [spec.set[1]: Duplicate value: 9007199254740993, spec: Invalid value: too small]',
  );
});

test('an object says its kind and version, and a patch cannot change them', async () => {
  await define();
  await ask('POST', WIDGETS, widget('a', { size: 1 }));
  const merge = { 'content-type': 'application/merge-patch+json' };
  const answers = [
    await ask('POST', WIDGETS, {}),
    await ask('POST', `${WIDGETS}?fieldValidation=Ignore`, {}),
    await ask('PATCH', `${WIDGETS}/a`, { kind: 'Other' }, merge),
    await ask('PATCH', `${WIDGETS}/a`, { apiVersion: 'b/v2' }, merge),
  ];
  expect(answers.map(({ body }) => body.message)).toEqual([
    "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{}' ({})",
    "Widget in version \"v1\" cannot be handled as a Widget: Object 'Kind' is missing in '{}'",
    'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Widget',
    'Widget.example.com "a" is invalid: apiVersion: Invalid value: "b/v2": must be example.com/v1',
  ]);
});

import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { JsonSchema } from './structural/json-schema.ts';
import { versionOf, widgetDefinition } from './testing/definitions.ts';
import { DEFINITIONS, servedExtensions, widget, WIDGETS, type Asked } from './testing/served-extensions.ts';

const server = servedExtensions();
const ask: ReturnType<typeof server>['ask'] = (...request) => server().ask(...request);
const define: ReturnType<typeof server>['define'] = (definition) => server().define(definition);

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

test('validation errors use the wording of upstream', async () => {
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
    const asked = await ask(method, url, method === 'POST' ? widget('a', { size: 1 }) : undefined);
    return [asked.code, asked.text.startsWith('{') ? asked.body.message : asked.text];
  };
  expect([
    await codeOf('GET', `${WIDGETS}/a/odd`),
    await codeOf('GET', '/apis/example.com/v9/namespaces/default/widgets'),
    await codeOf('POST', '/apis/example.com/v1/widgets'),
  ]).toEqual([
    [404, 'widgets.example.com "a" not found'],
    [404, '404 page not found\n'],
    [404, '404 page not found\n'],
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
  await expect.poll(() => server().catalog.find({ group: 'example.com', version: 'v1' })).toBeUndefined();
  await define();
  expect((await ask('GET', WIDGETS)).body['items']).toEqual([]);
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

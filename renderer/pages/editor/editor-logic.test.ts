// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import type { KubeResource } from '../../../core/contract/index.ts';
import { manifestSchema } from '../../editor/kube-schema.ts';
import { hex } from '../../editor/themes.ts';
import { styleAsData } from '../../editor/trusted-html.ts';
import { fieldDiff, groupsOf } from '../../kinds/field-diff.ts';
import { fieldPath, problemsOf, readManifest, titleOf, titlesOf, valueAt } from './manifest-documents.ts';
import { withoutServerFields } from '../../kinds/server-fields.ts';

const TEXT = `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
# nothing here
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  template:
    spec:
      containers:
        - name: app
          image: ""
`;

test('an apply is known by its first objects', () => {
  const text = ['a', 'b', 'c', 'd'].map((name) => `kind: Pod\nmetadata: {name: ${name}}\n`).join('---\n');
  const documents = readManifest(text);
  expect([titlesOf(documents.slice(0, 2)), titlesOf(documents)]).toEqual([
    'Pod a, Pod b',
    'Pod a, Pod b, Pod c …',
  ]);
});

test('a text is read as its documents, and what is empty is none', () => {
  expect(readManifest(TEXT).map((document) => [titleOf(document), document.line])).toEqual([
    ['ConfigMap a', 1],
    ['Deployment shop/web', 8],
  ]);
});

test('an integer that a number cannot hold keeps its digits from the text to the diff', () => {
  const [document] = readManifest('kind: A\nspec: {big: 9007199254740993, small: 3, ratio: 0.5}\n');
  expect(document?.object?.['spec']).toEqual({ big: 9007199254740993n, small: 3, ratio: 0.5 });
  expect(valueAt(document?.object, 'spec')).toBe('{"big":9007199254740993,"small":3,"ratio":0.5}');
  expect(fieldDiff({ spec: { big: 9007199254740992 } }, { spec: { big: 9007199254740993n } })).toEqual([
    { path: 'spec.big', kind: 'changed', before: '9007199254740992', after: '9007199254740993' },
  ]);
});

test('a document that is broken does not hide the others', () => {
  const [first, second] = readManifest('a: [1\n---\nkind: Pod\n');
  expect([first?.object, first?.error?.startsWith('line '), second?.kind]).toEqual([undefined, true, 'Pod']);
});

test('a refusal is shown at its field, a missing field at its parent', () => {
  const document = readManifest(TEXT)[1]!;
  const refusal = { code: 422, reason: 'Invalid', message: 'refused' };
  const cause = (field: string) => ({ field, message: 'Required value', reason: 'FieldValueRequired' });
  const lines = problemsOf(document, {
    ...refusal,
    causes: [cause('spec.template.spec.containers[0].image'), cause('spec.selector')],
  }).map(({ line }) => line);
  expect(lines).toEqual([18, 13]);
});

test('a refusal that names its field in the text alone is shown there too', () => {
  const document = readManifest(TEXT)[1]!;
  const [problem] = problemsOf(document, {
    code: 500,
    reason: 'InternalError',
    message: 'failed to create typed patch object (shop/web): .spec.template: field not declared in schema',
    causes: [],
  });
  expect([problem?.line, problem?.message]).toEqual([14, 'spec.template: field not declared in schema']);
});

test('paths of fields are read with indexes and quoted keys', () => {
  expect(fieldPath('.spec.containers[name="app"].ports[0]')).toEqual([
    'spec',
    'containers',
    'name=app',
    'ports',
    0,
  ]);
});

test('the difference is reported by field, items of lists by their name', () => {
  const before = {
    metadata: { name: 'web', resourceVersion: '1' },
    spec: {
      replicas: 2,
      containers: [
        { name: 'a', image: 'a:1' },
        { name: 'b', image: 'b:1' },
      ],
    },
  };
  const after = {
    metadata: { name: 'web', resourceVersion: '2' },
    spec: {
      replicas: 3,
      containers: [
        { name: 'b', image: 'b:2' },
        { name: 'a', image: 'a:1' },
      ],
      paused: true,
    },
  };
  expect(fieldDiff(before, after)).toEqual([
    { path: 'spec.replicas', kind: 'changed', before: '2', after: '3' },
    { path: 'spec.containers[name=b].image', kind: 'changed', before: 'b:1', after: 'b:2' },
    { path: 'spec.paused', kind: 'added', before: '', after: 'true' },
  ]);
});

test('an object that is new is reported by its fields', () => {
  const made = {
    kind: 'Pod',
    metadata: { name: 'a', uid: '7' },
    spec: { containers: [{ name: 'app', image: 'x' }] },
  };
  expect(fieldDiff(null, made).map(({ path }) => path)).toEqual([
    'kind',
    'metadata.name',
    'spec.containers[name=app].name',
    'spec.containers[name=app].image',
  ]);
});

test('changes are grouped by the item or the part that they belong to', () => {
  const paths = [
    'kind',
    'spec.replicas',
    'spec.template.metadata.labels[app.kubernetes.io/name]',
    'spec.template.spec.containers[name=web].image',
    'spec.template.spec.containers[name=web].resources.limits.memory',
    'spec.template.spec.containers[name=web].ports[containerPort=80].protocol',
    'spec.paused',
  ];
  const changes = paths.map((path) => ({ path, kind: 'added' as const, before: '', after: 'x' }));
  expect(
    groupsOf(changes).map(({ path, changes: grouped }) => [path, grouped.map(({ name }) => name)]),
  ).toEqual([
    ['', ['kind']],
    ['spec', ['replicas', 'paused']],
    ['spec.template.metadata.labels', ['app.kubernetes.io/name']],
    [
      'spec.template.spec.containers[name=web]',
      ['image', 'resources.limits.memory', 'ports[containerPort=80].protocol'],
    ],
  ]);
});

test('fields that only the server writes are not offered for editing', () => {
  const live = {
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      uid: '1',
      resourceVersion: '2',
      managedFields: [],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
    status: {},
    data: { a: 'b' },
  };
  expect(withoutServerFields(live)).toEqual({ kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } });
});

test('a conflict finds its field in the document and in the live object, also by the keys of a list', () => {
  const object = {
    data: { 'a.b': 'x' },
    spec: {
      replicas: 0,
      containers: [
        { name: 'web', ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }] },
        { name: 'app', image: 'nginx:1' },
      ],
    },
  };
  expect(
    [
      '.spec.replicas',
      '.data[a.b]',
      '.spec.containers[name="app"].image',
      '.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].name',
      '.spec.containers[name="gone"].image',
      '.data',
    ].map((field) => valueAt(object, field)),
  ).toEqual(['0', 'x', 'nginx:1', 'http', undefined, '{"a.b":"x"}']);
});

const resource = (over: Partial<KubeResource>): KubeResource => ({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  singular: 'configmap',
  shortNames: [],
  categories: [],
  verbs: ['create', 'list', 'patch'],
  subresources: [],
  isPreferred: true,
  ...over,
});

test('the schema asks for the fields of the kind, and takes no others', () => {
  const schema = manifestSchema([resource({})], {
    'api/v1': {
      ConfigMap: {
        type: 'object',
        properties: { data: { $ref: '#/components/schemas/Data' } },
        'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'ConfigMap' }],
      },
      Data: { type: 'object', additionalProperties: { type: 'string' } },
      DeleteOptions: {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'DeleteOptions' }],
      },
    },
  });
  expect(schema['definitions']).toMatchObject({
    ConfigMap: { properties: { data: { $ref: '#/definitions/Data' } }, additionalProperties: false },
    Data: { additionalProperties: { type: 'string' } },
  });
  expect(schema['allOf']).toEqual([
    {
      if: { properties: { apiVersion: { const: 'v1' } }, required: ['apiVersion'] },
      then: { properties: { kind: { enum: ['ConfigMap'] } } },
    },
    {
      if: {
        properties: { apiVersion: { const: 'v1' }, kind: { const: 'ConfigMap' } },
        required: ['apiVersion', 'kind'],
      },
      then: { $ref: '#/definitions/ConfigMap' },
    },
  ]);
});

test('style attributes of tags travel as data; the same words in a text stay', () => {
  expect(styleAsData('<div class="a" style="top:1px"><span>x style="y"</span></div>')).toBe(
    '<div class="a" data-style="top:1px"><span>x style="y"</span></div>',
  );
});

test('colours are spelled out for the editor, however a build wrote them', () => {
  expect(['#fff', '#1c242a', 'rgb(24 30 34 / 0.5)', '#abc8'].map(hex)).toEqual([
    '#ffffff',
    '#1c242a',
    '#181e2280',
    '#aabbcc88',
  ]);
});

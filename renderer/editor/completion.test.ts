// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { KubeResource } from '../../core/contract/index.ts';
import { completionsAt, isSchemaMissing, type Completion } from './completion.ts';
import { manifestSchema } from './kube-schema.ts';

const resource = (group: string, version: string, kind: string): KubeResource => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ['create', 'patch'],
  subresources: [],
  isPreferred: true,
});
const RESOURCES = [
  resource('', 'v1', 'Pod'),
  resource('', 'v1', 'Service'),
  resource('apps', 'v1', 'Deployment'),
  resource('batch', 'v1', 'Job'),
];

const ref = (name: string, description?: string) =>
  description === undefined
    ? { $ref: `#/components/schemas/${name}` }
    : { allOf: [{ $ref: `#/components/schemas/${name}` }], description };
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const LABELS = { type: 'object', additionalProperties: { type: 'string' } };
const DOCUMENTS = {
  'apis/apps/v1': {
    Deployment: {
      ...object({
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: ref('Meta', 'Standard metadata.'),
        spec: ref('DeploymentSpec'),
        status: { type: 'object', properties: {} },
      }),
      'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'Deployment' }],
    },
    DeploymentSpec: object(
      {
        replicas: { type: 'integer' },
        paused: { type: 'boolean' },
        selector: ref('Selector'),
        template: ref('Template'),
      },
      ['selector', 'template'],
    ),
    Selector: object({ matchLabels: LABELS }),
    Meta: object({
      name: { type: 'string' },
      labels: LABELS,
      finalizers: { type: 'array', items: { type: 'string' } },
    }),
    Template: object({ metadata: ref('Meta'), spec: ref('PodSpec') }),
    PodSpec: object(
      {
        containers: { type: 'array', items: ref('Container') },
        restartPolicy: { type: 'string', enum: ['Always', 'Never', 'OnFailure'] },
      },
      ['containers'],
    ),
    Container: object(
      {
        name: { type: 'string' },
        image: { type: 'string' },
        livenessProbe: ref('Probe'),
        ports: {
          type: 'array',
          items: object({
            containerPort: { type: 'integer' },
            protocol: { type: 'string', enum: ['TCP', 'UDP'] },
          }),
        },
      },
      ['name'],
    ),
    Probe: object({ httpGet: object({ path: { type: 'string' }, port: { format: 'int-or-string' } }) }),
  },
};
const SCHEMA = manifestSchema(RESOURCES, DOCUMENTS);

const cursor = (text: string): [number, number] => {
  const lines = text.split('\n');
  return [lines.length - 1, lines.at(-1)!.length];
};
/** `|` is the cursor; at the end without one. */
const offered = (marked: string): readonly Completion[] => {
  const at = marked.includes('|') ? marked.indexOf('|') : marked.length;
  const [line, column] = cursor(marked.slice(0, at));
  return completionsAt(SCHEMA, marked.replace('|', ''), line, column)?.items ?? [];
};
const labels = (marked: string): string[] => offered(marked).map(({ label }) => label);

/** What Monaco does with a completion that is chosen at the end of the text. */
const choose = (text: string, label: string): string => {
  const [line, column] = cursor(text);
  const found = completionsAt(SCHEMA, text, line, column)!;
  const item = found.items.find((each) => each.label === label);
  if (!item)
    throw new Error(
      `${label} is not offered after:\n${text}\nbut ${found.items.map((each) => each.label).join()}`,
    );
  return `${text.slice(0, text.length - (column - found.from))}${item.text}`;
};

test('an empty text asks for what every object has, each once', () => {
  expect(labels('')).toEqual(['apiVersion', 'kind', 'metadata']);
});

test('kind is narrowed by apiVersion, and apiVersion by kind', () => {
  expect(labels('apiVersion: apps/v1\nkind: ')).toEqual(['Deployment']);
  expect(labels('apiVersion: v1\nkind: ')).toEqual(['Pod', 'Service']);
  expect(labels('kind: Job\napiVersion: ')).toEqual(['batch/v1']);
  expect(labels('apiVersion: ')).toEqual(['v1', 'apps/v1', 'batch/v1']);
});

test('a mapping is followed by a deeper line, a list by its first item, a scalar by its value', () => {
  const text = (head: string, label: string): string => choose(head, label).slice(head.length);
  const head = 'apiVersion: apps/v1\nkind: Deployment\n';
  expect(text(head, 'metadata')).toBe('metadata:\n  ');
  expect(text(`${head}spec:\n  `, 'replicas')).toBe('replicas: ');
  expect(text(`${head}spec:\n  template:\n    spec:\n      `, 'containers')).toBe('containers:\n        - ');
  expect(text(`${head}spec:\n  template:\n    spec:\n      containers:\n        - `, 'livenessProbe')).toBe(
    'livenessProbe:\n            ',
  );
});

test('a Deployment comes out of completion alone', () => {
  let text = choose('', 'apiVersion');
  text = `${choose(text, 'apps/v1')}\n`;
  text = `${choose(choose(`${text}ki`, 'kind'), 'Deployment')}\n`;
  text = `${choose(choose(`${text}me`, 'metadata'), 'name')}web\n`;
  text = `${choose(choose(text, 'spec'), 'replicas')}2\n  `;
  text = `${choose(choose(text, 'selector'), 'matchLabels')}app: web\n  `;
  text = `${choose(choose(choose(text, 'template'), 'metadata'), 'labels')}app: web\n    `;
  text = `${choose(choose(choose(text, 'spec'), 'containers'), 'name')}web\n          `;
  text = `${choose(text, 'image')}nginx\n          `;
  text = `${choose(choose(text, 'ports'), 'containerPort')}80\n              `;
  text = `${choose(choose(text, 'protocol'), 'TCP')}\n      `;
  text = `${choose(choose(text, 'restartPolicy'), 'Always')}\n`;
  expect(parse(text)).toEqual({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
          restartPolicy: 'Always',
        },
      },
    },
  });
});

const HEAD = 'apiVersion: apps/v1\nkind: Deployment\n';

test('keys that are there are not offered again, above or below the cursor', () => {
  expect(labels(`${HEAD}|\nspec:\n  replicas: 1\n`)).toEqual(['metadata']);
  const containers = `${HEAD}spec:\n  template:\n    spec:\n      containers:\n        - name: a\n          |\n          image: b\n        - image: c\n`;
  expect(labels(containers)).toEqual(['livenessProbe', 'ports']);
  expect(labels(containers.replace('|', '').replace('- image: c', '- image: c\n          |'))).toEqual([
    'name',
    'livenessProbe',
    'ports',
  ]);
});

test('a list may start in the column of its key', () => {
  expect(
    labels(`${HEAD}spec:\n  template:\n    spec:\n      containers:\n      - name: a\n        `),
  ).toEqual(['image', 'livenessProbe', 'ports']);
});

test('values are the choices of their field; a free text has none', () => {
  expect(labels(`${HEAD}spec:\n  paused: `)).toEqual(['true', 'false']);
  expect(labels(`${HEAD}spec:\n  template:\n    spec:\n      restartPolicy: N`)).toEqual([
    'Always',
    'Never',
    'OnFailure',
  ]);
  expect(labels(`${HEAD}metadata:\n  name: `)).toEqual([]);
});

test('a key before its colon is renamed alone', () => {
  const [line, column] = [3, 4];
  const found = completionsAt(SCHEMA, `${HEAD}spec:\n  re: 2\n`, line, column);
  expect([found?.from, found?.to, found?.items.find(({ label }) => label === 'replicas')?.text]).toEqual([
    2,
    4,
    'replicas',
  ]);
});

test.each([
  ['a comment', `${HEAD}# re`],
  ['a block scalar', `${HEAD}metadata:\n  name: |\n    re`],
  ['braces', `${HEAD}metadata: { na`],
  ['a separator', `${HEAD}---`],
])('nothing is offered inside of %s', (_what, text) => {
  expect(labels(text)).toEqual([]);
});

test('the next document has a kind of its own', () => {
  expect(labels(`${HEAD}---\napiVersion: v1\nkind: `)).toEqual(['Pod', 'Service']);
});

test('a schema that is on its way is missed only for a kind that the server has', () => {
  const missed = (text: string): boolean => isSchemaMissing(SCHEMA, text, ...cursor(text));
  expect([
    missed(`${HEAD}sp`),
    missed('apiVersion: v1\nkind: Service\nsp'),
    missed('apiVersion: v1\nkind: Boat\nsp'),
  ]).toEqual([false, true, false]);
});

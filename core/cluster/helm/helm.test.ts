import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { notFound } from '../../api/meta/index.ts';
import type { Client, DiscoveredResource } from '../../client/index.ts';
import { inEnglish } from '../../contract/index.ts';
import { mergePatchOf, rollback, uninstall } from './change.ts';
import { describeRelease } from './describe.ts';
import { healthOf } from './health.ts';
import { objectsOf } from './objects.ts';
import { decodeRelease, encodeRelease } from './release.ts';
import { listReleases, listRevisions } from './releases.ts';

const RESOURCES = [
  { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
] as unknown as DiscoveredResource[];

const raw = (version: number, status: string, manifest: string) => ({
  name: 'web',
  namespace: 'shop',
  version,
  info: {
    status,
    first_deployed: '2026-01-01T00:00:00Z',
    last_deployed: '2026-01-02T00:00:00Z',
    notes: 'Hello',
  },
  chart: {
    metadata: { name: 'web', version: `1.${version}.0`, appVersion: '7' },
    values: { replicas: 1, image: { tag: 'a', pull: 'Always' } },
  },
  config: { image: { tag: 'b' } },
  manifest,
  hooks: [{ name: 'check', kind: 'Job', events: ['post-rollback'] }],
});
const map = (name: string, data: string): string => `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data: ${data}
`;

const SECRETS = '/api/v1/namespaces/shop/secrets';
const secret = async (version: number, status: string, manifest: string) => ({
  metadata: {
    name: `sh.helm.release.v1.web.v${version}`,
    namespace: 'shop',
    labels: { owner: 'helm', name: 'web', status, version: String(version), modifiedAt: '1767225600' },
  },
  data: { release: await encodeRelease(raw(version, status, manifest)) },
});

interface Kept {
  metadata: { name: string; namespace: string; labels: Record<string, string> };
  data: { release: string };
}
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: Kept & { readonly dryRun?: readonly string[] };
  readonly query?: { readonly dryRun?: string };
}

/** An API server of Secrets and ConfigMaps: patches of labels and data are merged. */
const server = async (live: Record<string, object> = {}) => {
  const objects: Record<string, Kept> = {
    [`${SECRETS}/sh.helm.release.v1.web.v1`]: await secret(1, 'superseded', map('a', '{x: "1", y: "1"}')),
    [`${SECRETS}/sh.helm.release.v1.web.v2`]: await secret(
      2,
      'deployed',
      map('a', '{x: "2", z: "2"}') + map('b', '{}'),
    ),
    ...(live as Record<string, Kept>),
  };
  const writes: string[] = [];
  const client = {
    json: async ({ method, path, body, query }: Sent) => {
      if (method === 'GET' && (path === SECRETS || path === '/api/v1/secrets'))
        return {
          items: Object.entries(objects)
            .filter(([at]) => at.startsWith(SECRETS))
            .map(([, one]) => one),
          metadata: {},
        };
      if (method === 'GET' || method === 'PATCH' || method === 'DELETE')
        if (!objects[path]) throw notFound({ group: '', resource: 'x' }, path);
      if (method === 'GET') return objects[path];
      // As the server: a delete with a body has its options there, and nowhere else.
      const isDry = method === 'DELETE' && body ? body.dryRun !== undefined : query?.dryRun !== undefined;
      writes.push(
        `${method} ${path}${isDry ? ' dry' : ''}${path.startsWith(SECRETS) ? '' : ` ${JSON.stringify(body)}`}`,
      );
      if (isDry) return body;
      if (method === 'DELETE') delete objects[path];
      if (method === 'POST')
        objects[`${path}/${body.metadata.name}`] = {
          ...body,
          metadata: { ...body.metadata, namespace: 'shop' },
        };
      if (method === 'PATCH' && path.startsWith(SECRETS)) {
        const { metadata } = objects[path]!;
        objects[path] = {
          data: body.data,
          metadata: { ...metadata, labels: { ...metadata.labels, ...body.metadata.labels } },
        };
      }
      return body;
    },
  } as unknown as Client;
  return { client, writes, objects };
};
const contextOf = (client: Client, dryRun = false) => ({
  client,
  resources: async () => RESOURCES,
  nowMs: () => 1_767_300_000_000,
  dryRun,
});
const A = '/api/v1/namespaces/shop/configmaps/a';
const B = '/api/v1/namespaces/shop/configmaps/b';

test('a release is read as helm stores it, and damage is reported', async () => {
  const release = await decodeRelease(await encodeRelease(raw(3, 'deployed', '')));
  expect([release.name, release.revision, release.chart, release.notes]).toEqual([
    'web',
    3,
    { name: 'web', version: '1.3.0', appVersion: '7' },
    'Hello',
  ]);
  const packed = (text: Buffer): string => Buffer.from(text.toString('base64')).toString('base64');
  for (const broken of [
    '',
    packed(gzipSync('no json')),
    packed(Buffer.from([0x1f, 0x8b, 1])),
    packed(gzipSync('[]')),
  ])
    await expect(decodeRelease(broken)).rejects.toMatchObject({ reason: 'NotARelease' });
});

test('the newest revision of each release is listed, and described with its objects', async () => {
  const { client } = await server({ [A]: { kind: 'ConfigMap', metadata: { name: 'a' } } });
  const { releases } = await listReleases(client, '');
  expect(releases.map(({ name, revision, chart }) => [name, revision, chart])).toEqual([
    ['web', 2, 'web-1.2.0'],
  ]);
  const release = await describeRelease(client, RESOURCES, {
    namespace: 'shop',
    name: 'web',
    revision: null,
  });
  expect([
    release.objects.map(({ name, health }) => [name, health]),
    release.values,
    release.allValues,
  ]).toEqual([
    [
      ['a', 'ok'],
      ['b', 'missing'],
    ],
    'image:\n  tag: b\n',
    'replicas: 1\nimage:\n  tag: b\n  pull: Always\n',
  ]);
  await expect(
    describeRelease(client, RESOURCES, { namespace: 'shop', name: 'web', revision: 9 }),
  ).rejects.toMatchObject({
    reason: 'NotFound',
  });
});

test('a rollback patches from the current manifest, removes what is gone and keeps the record', async () => {
  const { client, writes, objects } = await server({ [A]: {}, [B]: {} });
  const dry = await rollback(contextOf(client, true), { namespace: 'shop', name: 'web' }, 1);
  expect([dry.revision, writes.every((write) => write.includes(' dry'))]).toEqual([null, true]);
  writes.length = 0;
  const report = await rollback(contextOf(client), { namespace: 'shop', name: 'web' }, 1);
  expect([
    report.revision,
    report.steps.map(({ name, outcome }) => [name, outcome]),
    report.warnings.map(inEnglish),
  ]).toEqual([
    3,
    [
      ['a', 'applied'],
      ['b', 'deleted'],
    ],
    ['hook Job check is not run'],
  ]);
  expect(writes[1]).toContain('"data":{"x":"1","y":"1","z":null}');
  const statuses = await Promise.all(
    [1, 2, 3].map(async (version) => {
      const { metadata, data } = objects[`${SECRETS}/sh.helm.release.v1.web.v${version}`]!;
      return [metadata.labels.status, (await decodeRelease(data.release)).status];
    }),
  );
  expect(statuses).toEqual([
    ['superseded', 'superseded'],
    ['superseded', 'superseded'],
    ['deployed', 'deployed'],
  ]);
});

test('the dry run of an uninstall deletes nothing', async () => {
  const { client, writes, objects } = await server({ [A]: {}, [B]: {} });
  const before = Object.keys(objects);
  const report = await uninstall(contextOf(client, true), { namespace: 'shop', name: 'web' });
  expect([report.steps.map(({ outcome }) => outcome), Object.keys(objects)]).toEqual([
    ['deleted', 'deleted'],
    before,
  ]);
  expect(writes.filter((write) => !write.includes(' dry'))).toEqual([]);
});

test('an uninstall deletes objects and record, and both stay when one fails', async () => {
  const { client, objects } = await server({ [A]: {} });
  const report = await uninstall(contextOf(client), { namespace: 'shop', name: 'web' });
  expect(report.steps.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['b', 'absent'],
    ['a', 'deleted'],
  ]);
  expect(Object.keys(objects)).toEqual([]);
});

test('objects come in the order of an installation', () => {
  const kinds = ['Ingress', 'Widget', 'Deployment', 'ConfigMap', 'Namespace'];
  const manifest = kinds.map((kind) => `---\nkind: ${kind}\nmetadata: {name: x}\n`).join('');
  expect(objectsOf(`# nothing\n${manifest}---\n- a list\n`).map(({ kind }) => kind)).toEqual([
    'Namespace',
    'ConfigMap',
    'Deployment',
    'Ingress',
    'Widget',
  ]);
});

test('a patch removes what the older manifest had alone', () => {
  expect(mergePatchOf({ a: { b: 1, c: 2 }, d: 1 }, { a: { b: 3 }, e: [1] })).toEqual({
    a: { b: 3, c: null },
    e: [1],
    d: null,
  });
});

test.each([
  [
    {
      kind: 'Deployment',
      metadata: { generation: 2 },
      spec: { replicas: 3 },
      status: { observedGeneration: 2, availableReplicas: 3 },
    },
    'ok',
  ],
  [
    {
      kind: 'Deployment',
      metadata: { generation: 3 },
      spec: { replicas: 3 },
      status: { observedGeneration: 2, availableReplicas: 3 },
    },
    'progressing',
  ],
  [
    {
      kind: 'Deployment',
      spec: {},
      status: { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] },
    },
    'failed',
  ],
  [{ kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } }, 'progressing'],
  [{ kind: 'Pod', status: { phase: 'Failed', reason: 'Evicted' } }, 'failed'],
  [{ kind: 'ConfigMap' }, 'ok'],
  [undefined, 'missing'],
] as const)('%j is %s', (object, health) => {
  expect(healthOf(object as Parameters<typeof healthOf>[0]).health).toBe(health);
});

test('a cluster without releases has an empty list: an API server writes null for it', async () => {
  const client = { json: () => Promise.resolve({ items: null, metadata: {} }) } as unknown as Client;
  expect(await listRevisions(client, { namespace: '' })).toEqual({ revisions: [], isCut: false });
});

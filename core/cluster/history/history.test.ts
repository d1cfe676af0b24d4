import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ReasonError } from '../../base/errors.ts';
import { systemClock } from '../../base/node/clock.ts';
import { definitionFromV1Beta1 } from '../../api/scheme/index.ts';
import { inEnglish } from '../../contract/index.ts';
import { KeyValue } from '../../etcd/proto/index.ts';
import { encodeRevisionKey, saveSnapshot } from '../../etcd/snapshot/index.ts';
import { changeOf, compareMoments } from './compare.ts';
import { contentsOf, listObjects } from './contents.ts';
import { manifestOf, rankOf } from './manifest.ts';
import { placeOf, REGISTRY } from './place.ts';
import { openSnapshotSource } from './snapshot-source.ts';
import { openDecoder } from './stored-object.ts';
import { versionsInSnapshot, walkVersions } from './versions.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-history-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Write {
  readonly revision: number;
  readonly key: string;
  /** Undefined: deleted. */
  readonly value?: unknown;
}

const save = async (name: string, writes: readonly Write[]): Promise<string> => {
  const file = join(folder, name);
  const entries = writes.map(({ revision, key, value }) => {
    const at = encodeRevisionKey({ main: revision, sub: 0 });
    const bytes = typeof value === 'string' ? value : JSON.stringify(value ?? '');
    return {
      bucket: 'key',
      key: value === undefined ? Buffer.concat([at, Buffer.from('t')]) : at,
      value: Buffer.from(
        KeyValue.encode({
          key: Buffer.from(key),
          value: value === undefined ? Buffer.alloc(0) : Buffer.from(bytes),
          createRevision: 2,
          modRevision: revision,
          version: 1,
        }),
      ),
    };
  });
  await saveSnapshot(file, () => entries);
  return file;
};

const config = (name: string, depth: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'web', ...more },
  data: { depth },
});
const A = '/registry/configmaps/web/a';
const B = '/registry/configmaps/web/b';
const WIDGET = '/registry/example.com/widgets/web/one';

test.each([
  ['/registry/pods/web/a', 'pods', 'web', 'a'],
  ['/registry/minions/worker-1', 'nodes', '', 'worker-1'],
  ['/registry/services/specs/default/kubernetes', 'services', 'default', 'kubernetes'],
  ['/registry/services/endpoints/default/kubernetes', 'endpoints', 'default', 'kubernetes'],
  [WIDGET, 'widgets', 'web', 'one'],
  ['/registry/example.com/berths/one', 'berths', '', 'one'],
])('%s is one of %s', (key, plural, namespace, name) => {
  expect(placeOf(key)).toMatchObject({ plural, namespace, name });
});

test.each([
  '/registry/ranges/serviceips',
  '/registry/masterleases/127.0.0.1',
  '/other/pods/a/b',
  '/registry/pods/a',
])('%s is no object', (key) => expect(placeOf(key)).toBeUndefined());

test('a snapshot is read as it was saved, and at an earlier revision that it holds', async () => {
  const file = await save('one.db', [
    { revision: 2, key: A, value: config('a', '1') },
    { revision: 3, key: B, value: config('b', '1') },
    { revision: 4, key: A, value: config('a', '2') },
    { revision: 5, key: B },
    {
      revision: 6,
      key: WIDGET,
      value: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' } },
    },
  ]);
  const now = await openSnapshotSource(file);
  const then = await openSnapshotSource(file, 3);
  try {
    expect((await contentsOf(now)).rows.map(({ plural, count }) => [plural, count])).toEqual([
      ['configmaps', 1],
      ['widgets', 1],
    ]);
    const query = { group: '', plural: 'configmaps', namespace: 'web', filter: '' };
    expect((await listObjects(then, query)).rows.map(({ name, modRevision }) => [name, modRevision])).toEqual(
      [
        ['a', 2],
        ['b', 3],
      ],
    );
    const decoder = await openDecoder([], systemClock);
    const read = await decoder.decode((await now.read(A))!);
    expect(read.object).toEqual(config('a', '2', { resourceVersion: '4' }));
    expect(await now.read(B)).toBeUndefined();
    const { objects, counts, same } = await compareMoments([then, now], decoder, {
      prefix: REGISTRY,
      objectsMax: 10,
    });
    expect([objects.map(({ name, change }) => [name, change]), counts, same]).toEqual([
      [
        ['a', 'changed'],
        ['b', 'removed'],
        ['one', 'added'],
      ],
      { added: 1, removed: 1, changed: 1, status: 0 },
      0,
    ]);
    expect(await versionsInSnapshot(file, B)).toEqual([
      { revision: 5, isDeleted: true },
      { revision: 3, isDeleted: false },
    ]);
  } finally {
    await now.close();
    await then.close();
  }
});

test('a revision that the file no longer holds is refused, and so is a damaged file', async () => {
  const file = await save('one.db', [{ revision: 9, key: A, value: config('a', '1') }]);
  await expect(openSnapshotSource(file, 4)).rejects.toMatchObject({ reason: 'RevisionUnknown' });
  writeFileSync(file, 'no database');
  await expect(openSnapshotSource(file)).rejects.toMatchObject({ reason: 'NotADatabase' });
});

test('values that cannot be read are reported, and the rest is read', async () => {
  const decoder = await openDecoder([], systemClock);
  const read = async (value: string) => {
    const stored = { key: A, value: Buffer.from(value), modRevision: 1, createRevision: 1, version: 1 };
    return inEnglish((await decoder.decode(stored)).problem!);
  };
  expect(await read('k8s:enc:aescbc:v1:key-1:\u0001\u0002')).toContain(
    'is encrypted (k8s:enc:aescbc:v1:key-1:)',
  );
  expect(await read('{"cut')).toContain(`cannot read ${A}`);
  expect(await read('k8s\0\xff\xff')).toContain(`cannot read ${A}`);
  expect(await read('[1]')).toBe(`${A} holds no Kubernetes object`);
});

test('a change of the status alone is marked, and fields of the server are no change', () => {
  const before = { ...config('a', '1', { resourceVersion: '1', managedFields: [{}] }), status: { ready: 1 } };
  expect(
    changeOf(before, { ...before, metadata: { ...before.metadata, resourceVersion: '2' } }),
  ).toBeUndefined();
  expect(changeOf(before, { ...before, status: { ready: 2 } } as typeof before)).toBe('status');
  expect(changeOf(before, { ...before, data: { depth: '2' } })).toBe('changed');
});

test('versions are walked back to the compacted revision, over deletions', async () => {
  /** Written at 5 and 8, deleted at 12, created again at 15. Compacted before 6. */
  const at = (revision: number): number | undefined =>
    revision >= 15 ? 15 : revision >= 12 ? undefined : revision >= 8 ? 8 : revision >= 5 ? 5 : undefined;
  const readAt = async (revision: number) => {
    if (revision < 6) throw new ReasonError('EtcdCompacted', 'compacted');
    const found = at(revision);
    return found === undefined ? undefined : { modRevision: found };
  };
  const { versions } = await walkVersions(readAt, { oldest: 6, newest: 20 });
  expect(versions.map(({ revision, isDeleted }) => (isDeleted ? -revision : revision))).toEqual([
    15, -12, 8, 5,
  ]);
});

test('a manifest has nothing of the life that has ended', () => {
  const metadata = {
    name: 'a',
    namespace: 'web',
    uid: 'u',
    resourceVersion: '4',
    creationTimestamp: 't',
    labels: { x: '1' },
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { nodeName: 'worker-1', containers: [] },
    status: {},
  };
  const { object, warnings } = manifestOf(pod);
  expect([object, warnings.map(inEnglish)]).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'web', labels: { x: '1' } },
      spec: { containers: [] },
    },
    ['the scheduler chooses a node again'],
  ]);
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: {
      selector: { matchLabels: {} },
      template: { metadata: { labels: { 'controller-uid': 'u', app: 'a' } } },
    },
  };
  expect(manifestOf(job).object).toMatchObject({
    spec: { template: { metadata: { labels: { app: 'a' } } } },
  });
  expect(manifestOf(job).object).not.toHaveProperty('spec.selector');
});

test('namespaces and definitions are restored before what needs them, webhooks last', () => {
  const ranks = [
    '/registry/namespaces/web',
    '/registry/apiextensions.k8s.io/customresourcedefinitions/x',
    A,
    WIDGET,
    '/registry/validatingwebhookconfigurations/w',
  ].map((key) => rankOf(placeOf(key)!));
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
  expect(new Set(ranks).size).toBe(ranks.length);
});

test('a definition that is stored in v1beta1 is read as v1', () => {
  const beta = {
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      version: 'v1',
      preserveUnknownFields: false,
      validation: { openAPIV3Schema: { type: 'object' } },
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
      conversion: {
        strategy: 'Webhook',
        webhookClientConfig: { url: 'https://x' },
        conversionReviewVersions: ['v1'],
      },
      versions: [{ name: 'v1', served: true, storage: true }],
    },
  };
  expect(definitionFromV1Beta1(beta)).toMatchObject({
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      group: 'example.com',
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'https://x' }, conversionReviewVersions: ['v1'] },
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        },
      ],
    },
  });
});

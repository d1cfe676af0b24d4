import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { alreadyExists, jsonText, notFound } from '../../api/meta/index.ts';
import type { Client, DiscoveredResource } from '../../client/index.ts';
import { inEnglish } from '../../contract/index.ts';
import { RESTORE_OBJECTS_MAX, restoreObjects } from './restore.ts';
import type { Source, StoredValue } from './source.ts';
import { openDecoder } from './stored-object.ts';

const resource = (group: string, version: string, kind: string, plural: string, namespaced = true) =>
  ({ group, version, kind, plural, namespaced }) as unknown as DiscoveredResource;
const RESOURCES = [
  resource('', 'v1', 'Namespace', 'namespaces', false),
  resource('', 'v1', 'ConfigMap', 'configmaps'),
  resource('apps', 'v1', 'Deployment', 'deployments'),
  resource('apps', 'v1', 'ReplicaSet', 'replicasets'),
];

const sourceOf = (objects: Readonly<Record<string, object>>): Source => {
  const stored = (key: string): StoredValue => ({
    key,
    value: Buffer.from(jsonText(objects[key])),
    modRevision: 7,
    createRevision: 2,
    version: 1,
  });
  const keys = Object.keys(objects).sort();
  return {
    revision: 9,
    async *keys(prefix) {
      for (const key of keys) if (key.startsWith(prefix)) yield stored(key);
    },
    async *values(prefix) {
      for (const key of keys) if (key.startsWith(prefix)) yield stored(key);
    },
    read: async (key) => (key in objects ? stored(key) : undefined),
  };
};

/** An API server of a few objects by path, and the requests that changed it. */
const server = (live: Record<string, object>) => {
  const writes: string[] = [];
  const client = {
    text: async ({
      method,
      path,
      body,
      query,
    }: {
      method: string;
      path: string;
      body?: object;
      query?: { dryRun?: string };
    }) => {
      if (method === 'GET') {
        const found = live[path];
        if (!found) throw notFound({ group: '', resource: 'x' }, path);
        return jsonText(found);
      }
      const name = (body as { metadata: { name: string } }).metadata.name;
      writes.push(`${method} ${path}${query?.dryRun ? ' dry' : ''}`);
      if (!query?.dryRun) live[method === 'POST' ? `${path}/${name}` : path] = body!;
      return jsonText(body);
    },
  } as unknown as Client;
  return { client, writes };
};

const run = async (
  objects: Record<string, object>,
  live: Record<string, object>,
  selection: Parameters<typeof restoreObjects>[0],
  dryRun = false,
) => {
  const { client, writes } = server(live);
  const decoder = await openDecoder([], manualClock());
  const options = { client, resources: async () => RESOURCES, source: sourceOf(objects), decoder, dryRun };
  const told: string[] = [];
  for await (const { kind, name, outcome, message, warnings } of restoreObjects(selection, options))
    told.push(
      [kind, name, outcome, ...[...(message ? [message] : []), ...warnings].map(inEnglish)].join(' | '),
    );
  return { told, writes };
};

const A = '/registry/configmaps/web/a';
const config = (depth: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'web', ...metadata },
  data: { depth },
});
const NAMESPACE = {
  '/api/v1/namespaces/web': { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web', uid: 'n' } },
};
const one = { kind: 'objects' as const, keys: [A] };

test('an object is written with the digits that it was stored with', async () => {
  const exact = { ...config('1'), data: { depth: 9007199254740993n } };
  const live: Record<string, object> = { ...NAMESPACE };
  const path = '/api/v1/namespaces/web/configmaps/a';
  expect((await run({ [A]: exact }, live, one)).told).toEqual(['ConfigMap | a | created']);
  expect(live[path]).toMatchObject({ data: { depth: 9007199254740993n } });
  expect((await run({ [A]: exact }, live, one)).told).toEqual(['ConfigMap | a | unchanged']);
});

test('a missing object is created, a changed one replaced, an equal one left alone', async () => {
  const path = '/api/v1/namespaces/web/configmaps';
  const then = { [A]: config('1', { uid: 'old' }) };
  expect(await run(then, { ...NAMESPACE }, one)).toEqual({
    told: ['ConfigMap | a | created'],
    writes: [`POST ${path}`],
  });
  const live = config('2', { uid: 'new', resourceVersion: '30' });
  expect(await run(then, { ...NAMESPACE, [`${path}/a`]: live }, one)).toEqual({
    told: ['ConfigMap | a | replaced'],
    writes: [`PUT ${path}/a`],
  });
  const same = config('1', { uid: 'new', resourceVersion: '30' });
  expect(await run(then, { ...NAMESPACE, [`${path}/a`]: same }, one)).toEqual({
    told: ['ConfigMap | a | unchanged'],
    writes: [],
  });
});

test('a namespace that is gone comes back first; a dry run changes nothing', async () => {
  const then = { [A]: config('1'), '/registry/namespaces/web': NAMESPACE['/api/v1/namespaces/web'] };
  const warning = 'namespace web does not exist and is restored first';
  expect(await run(then, {}, one, true)).toEqual({
    told: [`ConfigMap | a | created | ${warning}`],
    writes: [],
  });
  expect((await run(then, {}, one)).writes).toEqual([
    'POST /api/v1/namespaces',
    'POST /api/v1/namespaces/web/configmaps',
  ]);
});

test('an object that a controller creates in the meantime is replaced', async () => {
  const path = '/api/v1/namespaces/web/configmaps';
  const live: Record<string, object> = { ...NAMESPACE };
  const { client, writes } = server(live);
  const raced = {
    text: async (request: Parameters<Client['text']>[0]) => {
      if (request.method !== 'POST') return client.text(request);
      live[`${path}/a`] = config('2', { uid: 'new', resourceVersion: '30' });
      throw alreadyExists({ group: '', resource: 'configmaps' }, 'a');
    },
  } as Client;
  const decoder = await openDecoder([], manualClock());
  const source = sourceOf({ [A]: config('1') });
  const options = { client: raced, resources: async () => RESOURCES, source, decoder, dryRun: false };
  const outcomes: string[] = [];
  for await (const { outcome } of restoreObjects(one, options)) outcomes.push(outcome);
  expect([outcomes, writes]).toEqual([['replaced'], [`PUT ${path}/a`]]);
});

test('more objects than one restore takes are refused before anything is written', async () => {
  const many = Object.fromEntries(
    Array.from({ length: RESTORE_OBJECTS_MAX + 1 }, (_, index) => [
      `/registry/configmaps/web/c${index}`,
      config(`${index}`),
    ]),
  );
  const live = { ...NAMESPACE };
  await expect(run(many, live, { kind: 'all' })).rejects.toThrow('more than 20,000 objects');
  expect(Object.keys(live)).toEqual(Object.keys(NAMESPACE));
});

test('an object is created without an owner that is gone', async () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'gone' };
  const { told } = await run({ [A]: config('1', { ownerReferences: [owner] }) }, { ...NAMESPACE }, one);
  expect(told).toEqual([
    'ConfigMap | a | created | its owner Deployment web does not exist; restored without it',
  ]);
});

test('of a namespace, what controllers make is left to them, and Events are left out', async () => {
  const controller = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web-1', namespace: 'web', ownerReferences: [controller] },
  };
  const then = {
    [A]: config('1'),
    '/registry/replicasets/web/web-1': set,
    '/registry/events/web/e': { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace: 'web' } },
    '/registry/configmaps/other/b': config('1'),
  };
  const { told } = await run(then, { ...NAMESPACE }, { kind: 'namespace', namespace: 'web' });
  expect(told).toEqual([
    'ConfigMap | a | created',
    'ReplicaSet | web-1 | skipped | recreated by its controller, Deployment web',
  ]);
});

test('a kind that the server does not serve fails alone', async () => {
  const widget = '/registry/example.com/widgets/web/w';
  const then = {
    [A]: config('1'),
    [widget]: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'web' } },
  };
  const { told } = await run(then, { ...NAMESPACE }, { kind: 'all' });
  expect(told).toEqual([
    'ConfigMap | a | created',
    'Widget | w | failed | the server does not serve Widget in example.com/v1; restore its CustomResourceDefinition first',
  ]);
});

import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { isStatusError } from '../../api/meta/index.ts';
import { fakeContext, type Sent } from '../server/testing/fake-context.ts';
import { DiscoveryCatalog } from './catalog.ts';
import { discoveryStage } from './discovery-stage.ts';
import { widgetsWith } from './testing/widgets.ts';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** As kubectl asks: the newest form it knows first. */
const KUBECTL = `${V2},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`;

const widgets = widgetsWith({ shortNames: ['wd'] });

const stageOf = (catalog = new DiscoveryCatalog(36)) =>
  discoveryStage({
    catalog,
    serverAddress: '127.8.0.1:6443',
    otherPaths: () => ['/healthz', '/version'],
    version: 'v1.36.0',
    clock: manualClock(),
  });

const ask = async (
  url: string,
  headers: Record<string, string> = {},
  stage = stageOf(),
): Promise<Sent & { json: () => Record<string, unknown> }> => {
  const { context, sent } = fakeContext({ url, headers });
  expect(await stage.run(context)).toBe('done');
  return Object.assign(sent, { json: () => JSON.parse(sent.text()) as Record<string, unknown> });
};

test('/api tells the versions of the core group and where the server is', async () => {
  expect((await ask('/api')).json()).toEqual({
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.8.0.1:6443' }],
  });
});

test('documents are written in YAML for clients that ask for it', async () => {
  const sent = await ask('/apis/apps', { accept: 'application/yaml' });
  expect(sent.text()).toBe(
    'apiVersion: v1\nkind: APIGroup\nname: apps\npreferredVersion:\n  groupVersion: apps/v1\n  version: v1\nversions:\n- groupVersion: apps/v1\n  version: v1\n',
  );
});

test('/apis lists groups by priority, each with its preferred version', async () => {
  const { groups } = (await ask('/apis')).json() as { groups: { name: string }[] };
  expect(groups.slice(0, 3).map((group) => group.name)).toEqual([
    'apiregistration.k8s.io',
    'apps',
    'events.k8s.io',
  ]);
  expect(groups.find((group) => group.name === 'autoscaling')).toEqual({
    name: 'autoscaling',
    versions: [
      { groupVersion: 'autoscaling/v2', version: 'v2' },
      { groupVersion: 'autoscaling/v1', version: 'v1' },
    ],
    preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
  });
});

test('a resource list names short names, subresources and the hash of the stored version', async () => {
  const list = (await ask('/api/v1/')).json() as { resources: { name: string }[] };
  const named = (name: string): unknown => list.resources.find((resource) => resource.name === name);
  expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
  expect(list).not.toHaveProperty('apiVersion');
  expect(named('configmaps')).toEqual({
    name: 'configmaps',
    singularName: 'configmap',
    namespaced: true,
    kind: 'ConfigMap',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['cm'],
    // As published in upstream's own discovery files.
    storageVersionHash: 'qFsyl6wFWjQ=',
  });
  expect(named('replicationcontrollers/scale')).toEqual({
    name: 'replicationcontrollers/scale',
    singularName: '',
    namespaced: true,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: ['get', 'patch', 'update'],
  });
});

test('the aggregated document is answered in the first form that the client names', async () => {
  const answer = await ask('/apis', { accept: KUBECTL });
  expect(answer.headers.get('content-type')).toBe(V2);
  expect(answer.headers.get('vary')).toBe('Accept');
  expect(answer.json()).toMatchObject({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
  });
  const older = await ask('/api', { accept: V2.replace('v=v2', 'v=v2beta1') });
  expect(older.json()).toMatchObject({ apiVersion: 'apidiscovery.k8s.io/v2beta1' });
  expect((await ask('/apis', { accept: 'application/json' })).json()).toMatchObject({ kind: 'APIGroupList' });
  expect((await ask('/apis/apps', { accept: KUBECTL })).json()).toMatchObject({ kind: 'APIGroup' });
});

test('a client with the current aggregated document gets 304 until a group is added or removed', async () => {
  const catalog = new DiscoveryCatalog(36);
  const stage = stageOf(catalog);
  const etag = (await ask('/apis', { accept: V2 }, stage)).headers.get('etag') as string;
  expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
  const again = await ask('/apis', { accept: V2, 'if-none-match': etag }, stage);
  expect({ code: again.code, text: again.text() }).toEqual({ code: 304, text: '' });
  catalog.publish(widgets);
  const changed = await ask('/apis', { accept: V2, 'if-none-match': etag }, stage);
  expect(changed.code).toBe(200);
  expect((changed.json()['items'] as { metadata: { name: string } }[]).at(-1)).toEqual({
    metadata: { name: 'example.com' },
    versions: [
      {
        version: 'v1',
        resources: [
          {
            resource: 'widgets',
            responseKind: { group: '', version: '', kind: 'Widget' },
            scope: 'Namespaced',
            singularResource: 'widget',
            verbs: ['get', 'list'],
            shortNames: ['wd'],
          },
        ],
        freshness: 'Current',
      },
    ],
  });
  catalog.withdraw(widgets);
  expect((await ask('/apis', { accept: V2, 'if-none-match': etag }, stage)).code).toBe(304);
});

test('the index lists every path, sorted', async () => {
  const { paths } = (await ask('/')).json() as { paths: string[] };
  expect(paths).toEqual([...paths].sort());
  expect(paths).toEqual(expect.arrayContaining(['/api/v1', '/apis/apps/v1', '/healthz', '/openapi/v2']));
});

test.each([
  ['a write', 'POST', '/apis', '*/*', 405],
  ['a type that is not spoken', 'GET', '/api', 'text/html', 406],
])('%s is refused', async (_what, method, url, accept, code) => {
  const { context } = fakeContext({ method, url, headers: { accept } });
  const failure: unknown = await Promise.resolve(stageOf().run(context)).catch((error: unknown) => error);
  expect(isStatusError(failure) && failure.code).toBe(code);
});

test.each(['/apis/none.example', '/apis/apps/v9', '/api/v2', '/healthz', '/api/v1/pods'])(
  '%s is left to others',
  async (url) => {
    expect(await stageOf().run(fakeContext({ url }).context)).toBe('next');
  },
);

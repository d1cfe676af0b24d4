import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { seededRandom } from '../../base/random.ts';
import { FakeApi } from '../testing/index.ts';
import { discover } from './discovery.ts';
import { Requester } from './requester.ts';
import { RestClient } from './rest-client.ts';
import { RestMapper } from './rest-mapper.ts';

const WIDGET = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };

/** A server whose answers are these, by path. */
const clientOf = (answers: Readonly<Record<string, unknown>>): RestClient => {
  const requester = new Requester({
    transport: {
      dispose() {},
      send: ({ path }) =>
        Promise.resolve({
          status: answers[path] === undefined ? 503 : 200,
          headers: { 'content-type': 'application/json' },
          body: (async function* () {
            yield await Promise.resolve(Buffer.from(JSON.stringify(answers[path] ?? {})));
          })(),
          dispose() {},
        }),
    },
    host: 'x',
    clock: manualClock(),
    random: seededRandom(1),
    log: silentLog,
    timeoutMs: 1000,
  });
  return new RestClient(requester, { userAgent: 'test' });
};

test('kinds and resources are found in the version that the server prefers, or the one asked for', async () => {
  const api = new FakeApi();
  const mapper = new RestMapper(api.client(), api.clock);
  expect(await mapper.ofKind({ group: 'apps', kind: 'Deployment' })).toMatchObject({
    plural: 'deployments',
    version: 'v1',
    namespaced: true,
    subresources: expect.arrayContaining(['scale', 'status']),
  });
  const autoscaler = { group: 'autoscaling', plural: 'horizontalpodautoscalers' };
  expect((await mapper.ofResource({ ...autoscaler, version: 'v1' }))?.version).toBe('v1');
  expect((await mapper.ofName('po'))?.kind).toBe('Pod');
  expect((await mapper.ofName('deployments.apps'))?.kind).toBe('Deployment');
});

test('a kind that is new is found by asking again, but not immediately', async () => {
  const api = new FakeApi();
  const mapper = new RestMapper(api.client(), api.clock);
  const find = () => mapper.ofKind({ group: 'example.com', kind: 'Widget' });
  expect(await find()).toBeUndefined();
  api.define(WIDGET);
  expect(await find()).toBeUndefined();
  api.clock.advance(10_000);
  expect(await find()).toMatchObject(WIDGET);
});

test('aggregated discovery takes two requests, and tells which groups are stale', async () => {
  const pods = {
    resource: 'pods',
    responseKind: { group: '', version: 'v1', kind: 'Pod' },
    scope: 'Namespaced',
    singularResource: 'pod',
    verbs: ['get', 'list'],
    shortNames: ['po'],
    subresources: [{ subresource: 'status', verbs: ['get'] }],
  };
  const found = await discover(
    clientOf({
      '/api': {
        kind: 'APIGroupDiscoveryList',
        items: [{ metadata: {}, versions: [{ version: 'v1', freshness: 'Current', resources: [pods] }] }],
      },
      '/apis': {
        kind: 'APIGroupDiscoveryList',
        items: [
          { metadata: { name: 'metrics.k8s.io' }, versions: [{ version: 'v1beta1', freshness: 'Stale' }] },
        ],
      },
    }),
  );
  expect(found.resources).toEqual([
    {
      group: '',
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      namespaced: true,
      singular: 'pod',
      shortNames: ['po'],
      categories: [],
      verbs: ['get', 'list'],
      subresources: ['status'],
      isPreferred: true,
    },
  ]);
  expect([...found.failed.keys()]).toEqual(['metrics.k8s.io/v1beta1']);
});

test('a group whose server is away is named, and the others are there', async () => {
  const group = (name: string) => ({
    name,
    versions: [{ groupVersion: `${name}/v1`, version: 'v1' }],
    preferredVersion: { version: 'v1' },
  });
  const found = await discover(
    clientOf({
      '/api': { kind: 'APIVersions', versions: [] },
      '/apis': { kind: 'APIGroupList', groups: [group('apps'), group('broken.example.com')] },
      '/apis/apps/v1': { resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true }] },
    }),
  );
  expect(found.resources.map(({ plural }) => plural)).toEqual(['deployments']);
  expect([...found.failed.keys()]).toEqual(['broken.example.com/v1']);
});

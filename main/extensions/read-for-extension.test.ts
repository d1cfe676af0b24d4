import { expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import type { Client, RawRequest } from '../../core/client/index.ts';
import type { ExtensionRequest } from '../../core/contract/index.ts';
import type { ClusterConnection } from '../kube/connections.ts';
import { createExtensionRead, REQUESTS_IN_PROGRESS_MAX } from './read-for-extension.ts';

const EXTENSION = { name: 'mine', fingerprint: 'a'.repeat(64) };
const resource = (plural: string, group = '', version = 'v1', isPreferred = true) => ({
  group,
  version,
  plural,
  namespaced: plural !== 'nodes',
  isPreferred,
});
const POD = { kind: 'Pod', metadata: { name: 'a', managedFields: [{ manager: 'kubectl' }] }, spec: {} };

/** A server that answers every request with the same, in so many pieces. */
const connect = (answer: object = POD, { scope = null as string | null, pieces = 1, hangs = false } = {}) => {
  const asked: RawRequest[] = [];
  const closed: string[] = [];
  const clock = manualClock();
  const stream = (request: RawRequest) => {
    asked.push(request);
    const bytes = Buffer.from(JSON.stringify(answer));
    return Promise.resolve({
      status: 200,
      headers: {},
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < pieces; at += 1) yield bytes;
        if (hangs)
          await new Promise((_, reject) =>
            request.signal?.addEventListener('abort', () => reject(request.signal?.reason as Error)),
          );
      },
      dispose: () => void closed.push(request.path),
    });
  };
  const connection = {
    client: { stream } as unknown as Client,
    listScope: () => Promise.resolve(scope),
    discovery: () =>
      Promise.resolve({
        resources: [
          resource('pods'),
          resource('nodes'),
          resource('deployments', 'apps', 'v1beta1', false),
          resource('deployments', 'apps'),
          resource('secrets'),
        ],
        failed: new Map(),
      }),
  } as unknown as ClusterConnection;
  const read = createExtensionRead({
    clock,
    extensions: { readsOf: () => ['pods', 'nodes', 'deployments.apps', 'gone.example.com'] },
    connections: { open: () => Promise.resolve(connection) },
  });
  const signal = new AbortController().signal;
  return {
    asked,
    closed,
    clock,
    read: (request: ExtensionRequest) => read({ cluster: 'c', extension: EXTENSION, request }, signal),
  };
};
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error as { reason?: unknown }).reason,
  );

test('a declared resource is read in the preferred version, with the bounds of a page and without managedFields', async () => {
  const { read, asked, closed } = connect({ kind: 'DeploymentList', items: [POD], metadata: {} });
  const { body } = await read({ kind: 'list', resource: 'deployments.apps', labelSelector: 'a=b' });
  expect(asked.map(({ method, path, query }) => [method, path, query])).toEqual([
    ['GET', '/apis/apps/v1/deployments', { limit: '500', labelSelector: 'a=b' }],
  ]);
  expect(body).toEqual({
    kind: 'DeploymentList',
    items: [{ kind: 'Pod', metadata: { name: 'a' }, spec: {} }],
    metadata: {},
  });
  expect(closed).toHaveLength(1);
});

test('an object is read in its namespace, and one without a namespace by its name alone', async () => {
  const { read, asked } = connect();
  const { body } = await read({ kind: 'get', resource: 'pods', namespace: 'shop', name: 'a' });
  await read({ kind: 'get', resource: 'nodes', namespace: 'shop', name: 'n' });
  expect(asked.map(({ path }) => path)).toEqual(['/api/v1/namespaces/shop/pods/a', '/api/v1/nodes/n']);
  expect(body).toEqual({ kind: 'Pod', metadata: { name: 'a' }, spec: {} });
});

test('a user of one namespace lists that namespace', async () => {
  const { read, asked } = connect(POD, { scope: 'team' });
  await read({ kind: 'list', resource: 'pods' });
  await read({ kind: 'list', resource: 'pods', namespace: 'other', limit: 5, continue: 't' });
  expect(asked.map(({ path, query }) => [path, query])).toEqual([
    ['/api/v1/namespaces/team/pods', { limit: '500' }],
    ['/api/v1/namespaces/other/pods', { limit: '5', continue: 't' }],
  ]);
});

test('an undeclared resource is refused before the cluster is asked, and so is one that it does not serve', async () => {
  const { read, asked } = connect();
  for (const resource of ['secrets', 'configmaps', 'deployments', 'pods.apps', 'deployments.apps.evil'])
    expect(await failureOf(read({ kind: 'list', resource })), resource).toBe('Forbidden');
  expect(await failureOf(read({ kind: 'list', resource: 'gone.example.com' }))).toBe('NotFound');
  expect(asked).toEqual([]);
});

test('an answer that is too large ends, and its stream is closed', async () => {
  const { read, closed } = connect({ text: 'x'.repeat(1024 * 1024) }, { pieces: 5 });
  expect(await failureOf(read({ kind: 'list', resource: 'pods' }))).toBe('BadRequest');
  expect(closed).toHaveLength(1);
});

test('a server that never finishes is given up, and other reads are refused meanwhile', async () => {
  const { read, clock, closed } = connect(POD, { hangs: true });
  const pending = Array.from({ length: REQUESTS_IN_PROGRESS_MAX }, () =>
    failureOf(read({ kind: 'list', resource: 'pods' })),
  );
  expect(await failureOf(read({ kind: 'list', resource: 'pods' }))).toBe('Unavailable');
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(15_000);
  expect(await Promise.all(pending)).toEqual(pending.map(() => 'Unavailable'));
  expect(closed).toHaveLength(REQUESTS_IN_PROGRESS_MAX);
  expect(await failureOf(read({ kind: 'list', resource: 'secrets' }))).toBe('Forbidden');
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { silentLog } from '../../core/base/log.ts';
import { Registry as Metrics } from '../../core/base/metrics/index.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import type { KubernetesObject, Status } from '../../core/api/meta/index.ts';
import { createAdmissionChain } from '../../core/apiserver/admission/chain.ts';
import { apiStage } from '../../core/apiserver/handlers/index.ts';
import { message, protobufBody } from '../../core/apiserver/protobuf/testing/protobuf-writer.ts';
import { createRegistry, type ObjectRegistry } from '../../core/apiserver/registry/create-registry.ts';
import {
  askOver,
  authority,
  clientOf,
  openHttp2,
  PROTOCOLS,
  startTestServer,
  type Answer,
  type TestServer,
} from '../support/apiserver.ts';
import { openMemoryStorage } from '../support/apiserver-storage.ts';

const opened: (() => Promise<void> | void)[] = [];
const admin = clientOf(authority, 'admin', ['system:masters']);
let server: TestServer;
let registry: ObjectRegistry;
let session: ClientHttp2Session;

beforeAll(async () => {
  const { store } = await openMemoryStorage({ opened });
  registry = createRegistry({
    store,
    minor: 36,
    clock: systemClock,
    random: seededRandom(5),
    log: silentLog,
  });
  opened.push(() => registry.close());
  registry.start();
  await registry.ready();
  server = await startTestServer({
    handlers: [
      apiStage({
        registry,
        admission: createAdmissionChain([], { clock: systemClock }),
        minor: 36,
        clock: systemClock,
        random: seededRandom(6),
        log: silentLog,
        metrics: new Metrics(),
      }),
    ],
  });
  opened.push(() => server.server.shutdown({ graceMs: 0 }));
  session = openHttp2(server.port, admin);
  session.on('error', () => undefined);
  session.setMaxListeners(0);
  opened.push(() => session.close());
});

afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const ask = (path: string, { method, body, headers = {} }: Call = {}): Promise<Answer> =>
  askOver(session, {
    path,
    ...(method && { method }),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

const jsonOf = <T = KubernetesObject>({ body }: Answer): T => JSON.parse(body.toString('utf8')) as T;

const configMap = (name: string, data: Record<string, string> = {}, labels?: Record<string, string>) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, ...(labels && { labels }) },
  data,
});

const post = (object: unknown, path = CONFIG_MAPS): Promise<Answer> =>
  ask(path, { method: 'POST', body: object });

/** The lines of a watch as they come. */
const openWatch = (path: string, headers: Readonly<Record<string, string>> = {}) => {
  const stream: ClientHttp2Stream = session.request({ ':path': path, ...headers });
  let text = '';
  const lines: { type: string; object: KubernetesObject }[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((run) => run());
  let isOver = false;
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    const parts = text.split('\n');
    text = parts.pop()!;
    for (const part of parts) lines.push(JSON.parse(part) as (typeof lines)[number]);
    wake();
  });
  stream.on('close', () => {
    isOver = true;
    wake();
  });
  const begun = new Promise<void>((resolve) => stream.once('response', () => resolve()));
  return {
    stream,
    /** Answered: what is written from now on is told. */
    begun,
    async take(count: number) {
      while (lines.length < count && !isOver)
        await new Promise<void>((resolve) => {
          const run = (): void => {
            waiting.delete(run);
            resolve();
          };
          waiting.add(run);
        });
      return lines.splice(0, count);
    },
    async over() {
      while (!isOver)
        await new Promise<void>((resolve) => {
          const run = (): void => {
            waiting.delete(run);
            resolve();
          };
          waiting.add(run);
        });
    },
    close: () => stream.close(),
  };
};

describe.each(PROTOCOLS)('over %s', (protocol, askBy) => {
  const suffix = protocol === 'HTTP/1.1' ? 'one' : 'two';

  test('an object is created, read, listed, replaced and deleted', async () => {
    const name = `life-${suffix}`;
    const at = `${CONFIG_MAPS}/${name}`;
    const by = (path: string, method = 'GET', body?: unknown): Promise<Answer> =>
      askBy({
        port: server.port,
        path,
        method,
        credential: admin,
        headers: { 'content-type': 'application/json', 'user-agent': 'probe/1.0' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const created = await by(CONFIG_MAPS, 'POST', configMap(name, { a: '1' }));
    expect(created.code).toBe(201);
    const object = jsonOf(created);
    expect(object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1' } });
    expect(object.metadata).toMatchObject({ name, namespace: 'default' });
    expect(object.metadata?.managedFields).toMatchObject([
      { manager: 'probe', operation: 'Update', fieldsV1: { 'f:data': { 'f:a': {} } } },
    ]);
    expect(jsonOf(await by(at))).toEqual(object);
    const list = jsonOf<{ kind: string; items: KubernetesObject[] }>(await by(CONFIG_MAPS));
    expect(list.kind).toBe('ConfigMapList');
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
    expect(list.items.find(({ metadata }) => metadata?.name === name)).toEqual(item);
    const replaced = await by(at, 'PUT', { ...object, data: { a: '2' } });
    expect([replaced.code, jsonOf(replaced)['data']]).toEqual([200, { a: '2' }]);
    const stale = await by(at, 'PUT', { ...object, data: { a: '3' } });
    expect([stale.code, jsonOf<Status>(stale).message]).toEqual([
      409,
      `Operation cannot be fulfilled on configmaps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    ]);
    const deleted = await by(at, 'DELETE');
    expect(deleted.code).toBe(200);
    expect(jsonOf<Status>(deleted)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name, kind: 'configmaps', uid: object.metadata?.uid },
    });
    const missing = await by(at);
    expect([missing.code, jsonOf<Status>(missing).message]).toEqual([404, `configmaps "${name}" not found`]);
  });
});

test('a table has the columns of kubectl and the metadata of each object', async () => {
  await post(configMap('tabled', { a: '1', b: '2' }));
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
  const table = jsonOf<{
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[]; object: KubernetesObject }[];
  }>(await ask(`${CONFIG_MAPS}/tabled`, { headers: { accept } }));
  expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
  expect(table.rows[0]!.cells.slice(0, 2)).toEqual(['tabled', 2]);
  expect(table.rows[0]!.object).toMatchObject({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { name: 'tabled' },
  });
  const list = jsonOf<{ kind: string; rows: unknown[] }>(
    await ask(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Dtabled&includeObject=None`, {
      headers: { accept },
    }),
  );
  expect(list).toMatchObject({
    kind: 'Table',
    rows: [{ cells: ['tabled', 2, expect.any(String)], object: null }],
  });
});

test('a watch tells what is there, then what happens, and selectors see objects enter and leave', async () => {
  const watch = openWatch(`${CONFIG_MAPS}?watch=true&labelSelector=watched%3Dyes`);
  await watch.begun;
  const first = jsonOf(await post(configMap('watched', {}, { watched: 'yes' })));
  const relabel = (labels: Record<string, string>): Promise<Answer> =>
    ask(`${CONFIG_MAPS}/watched`, {
      method: 'PATCH',
      body: { metadata: { labels } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  const left = jsonOf(await relabel({ watched: 'no' }));
  await relabel({ watched: 'yes' });
  await ask(`${CONFIG_MAPS}/watched`, { method: 'DELETE' });
  const events = await watch.take(4);
  expect(events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED', 'ADDED', 'DELETED']);
  expect(events[0]!.object).toEqual(first);
  expect(events[1]!.object.metadata).toMatchObject({
    labels: { watched: 'yes' },
    resourceVersion: left.metadata?.resourceVersion,
  });
  watch.close();
});

test('a list by watch ends its state with an annotated bookmark', async () => {
  await post(configMap('stated', {}, { stated: 'yes' }));
  const watch = openWatch(
    `${CONFIG_MAPS}?watch=1&labelSelector=stated&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  const [added, bookmark] = await watch.take(2);
  expect([added!.type, added!.object.metadata?.name]).toEqual(['ADDED', 'stated']);
  expect(bookmark).toMatchObject({
    type: 'BOOKMARK',
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: expect.any(String) },
    },
  });
  watch.close();
});

test('a watch that has run its time ends as a whole answer', async () => {
  const watch = openWatch(`${CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=0&labelSelector=nobody`);
  await watch.over();
  expect(watch.stream.rstCode).toBe(0);
});

test('a watch as table sends its columns once', async () => {
  const watch = openWatch(`${CONFIG_MAPS}?watch=1&labelSelector=columns`, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  await post(configMap('columns-1', {}, { columns: '' }));
  await post(configMap('columns-2', {}, { columns: '' }));
  const events = await watch.take(2);
  expect(events.map(({ object }) => [object.kind, object['columnDefinitions'] !== null])).toEqual([
    ['Table', true],
    ['Table', false],
  ]);
  watch.close();
});

test('patches of each kind change the object, and an apply owns what it says', async () => {
  await post(configMap('patched', { a: '1', b: '1' }));
  const at = `${CONFIG_MAPS}/patched`;
  const patch = (type: string, body: unknown, query = ''): Promise<Answer> =>
    ask(`${at}${query}`, { method: 'PATCH', body, headers: { 'content-type': `application/${type}` } });
  const json = await patch('json-patch+json', [{ op: 'replace', path: '/data/a', value: '2' }]);
  expect(jsonOf(json)['data']).toEqual({ a: '2', b: '1' });
  const merged = await patch('merge-patch+json', { data: { b: null } });
  expect(jsonOf(merged)['data']).toEqual({ a: '2' });
  const strategic = await patch('strategic-merge-patch+json', { data: { c: '3' } });
  expect(jsonOf(strategic)['data']).toEqual({ a: '2', c: '3' });
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'patched' }, data: { a: '9' } };
  const conflicting = await patch('apply-patch+yaml', config, '?fieldManager=tester');
  expect([conflicting.code, jsonOf<Status>(conflicting).reason]).toEqual([409, 'Conflict']);
  const applied = await patch('apply-patch+yaml', config, '?fieldManager=tester&force=true');
  expect([applied.code, jsonOf(applied)['data']]).toEqual([200, { a: '9', c: '3' }]);
  const again = await patch('apply-patch+yaml', config, '?fieldManager=tester&force=true');
  expect(jsonOf(again)).toEqual(jsonOf(applied));
  const unfit = await patch('json-patch+json', [{ op: 'test', path: '/data/a', value: 'x' }]);
  expect(unfit.code).toBe(422);
});

test('an apply creates what is missing', async () => {
  const answer = await ask(`${CONFIG_MAPS}/applied?fieldManager=tester`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata:\n  a: "1"\n',
  });
  expect([answer.code, jsonOf(answer)['data']]).toEqual([201, { a: '1' }]);
  expect(jsonOf(answer).metadata?.managedFields).toMatchObject([{ manager: 'tester', operation: 'Apply' }]);
});

test('a body may be YAML, and so may the answer', async () => {
  const answer = await ask(CONFIG_MAPS, {
    method: 'POST',
    headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
    body: 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: yamled\ndata:\n  "on": "yes"\n',
  });
  expect([answer.code, answer.headers['content-type']]).toEqual([201, 'application/yaml']);
  expect(answer.body.toString('utf8')).toContain('data:\n  "on": "yes"\n');
});

test('a body may be protobuf, as typed clients in Go send it', async () => {
  const object = message([1, message([1, 'typed'], [2, ''])], [2, message([1, 'a'], [2, '1'])]);
  const answer = await askOver(session, {
    path: CONFIG_MAPS,
    method: 'POST',
    headers: {
      'content-type': 'application/vnd.kubernetes.protobuf',
      accept: 'application/vnd.kubernetes.protobuf,application/json',
    },
    body: protobufBody('v1', 'ConfigMap', object),
  });
  expect([answer.code, jsonOf(answer)['data']]).toEqual([201, { a: '1' }]);
  const options = message([1, 0], [2, message([1, 'another'])]);
  const refused = await askOver(session, {
    path: `${CONFIG_MAPS}/typed`,
    method: 'DELETE',
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: protobufBody('v1', 'DeleteOptions', options),
  });
  expect([refused.code, jsonOf<Status>(refused).reason]).toEqual([409, 'Conflict']);
});

test('unknown fields are warned of, rejected or dropped, as the client asks', async () => {
  const body = { ...configMap('strict'), extra: 1 };
  const warned = await ask(`${CONFIG_MAPS}?dryRun=All`, { method: 'POST', body });
  expect([warned.code, warned.headers['warning']]).toEqual([201, '299 - "unknown field \\"extra\\""']);
  const refused = await ask(`${CONFIG_MAPS}?fieldValidation=Strict`, { method: 'POST', body });
  expect([refused.code, jsonOf<Status>(refused).message]).toEqual([
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "extra"',
  ]);
  const ignored = await ask(`${CONFIG_MAPS}?dryRun=All&fieldValidation=Ignore`, { method: 'POST', body });
  expect([ignored.code, ignored.headers['warning']]).toEqual([201, undefined]);
  expect((await ask(`${CONFIG_MAPS}/strict`)).code).toBe(404);
});

test('a long list is whole in pages and compressed when asked for', async () => {
  const value = 'x'.repeat(4096);
  await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      post(configMap(`long-${i}`, { value, i: String(i) }, { long: '' })),
    ),
  );
  const path = `${CONFIG_MAPS}?labelSelector=long`;
  const whole = await ask(path);
  const zipped = await ask(path, { headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(zipped.body).equals(whole.body)).toBe(true);
  const names: string[] = [];
  let token = '';
  do {
    const page = jsonOf<{ items: KubernetesObject[]; metadata: { continue?: string } }>(
      await ask(`${path}&limit=30${token && `&continue=${token}`}`),
    );
    names.push(...page.items.map(({ metadata }) => metadata?.name ?? ''));
    token = page.metadata.continue ?? '';
  } while (token !== '');
  expect(new Set(names).size).toBe(100);
  const deleted = await ask(path, { method: 'DELETE' });
  expect(jsonOf<{ items: unknown[] }>(deleted).items.length).toBe(100);
  expect(jsonOf<{ items: unknown[] }>(await ask(path)).items).toEqual([]);
});

test('methods, media types and paths that are not served are refused as upstream does', async () => {
  const method = await ask(`${CONFIG_MAPS}/x`, { method: 'POST', body: {} });
  expect([method.code, jsonOf<Status>(method).message]).toEqual([
    405,
    'the server does not allow this method on the requested resource',
  ]);
  expect((await ask('/api/v1/nowhere')).code).toBe(404);
  expect((await ask('/api/v1/configmaps/x')).code).toBe(404);
  const accept = await ask(CONFIG_MAPS, { headers: { accept: 'text/html' } });
  expect([accept.code, jsonOf<Status>(accept).message]).toEqual([
    406,
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  ]);
  const cbor = await ask(CONFIG_MAPS, {
    method: 'POST',
    body: '\u0000',
    headers: { 'content-type': 'application/cbor' },
  });
  expect(cbor.code).toBe(415);
  const fallback = await ask(CONFIG_MAPS, {
    headers: { accept: 'application/vnd.kubernetes.protobuf,application/json' },
  });
  expect([fallback.code, fallback.headers['content-type']]).toEqual([200, 'application/json']);
});

test('an update of the status leaves the spec, and is owned as of the subresource', async () => {
  const pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'web', image: 'web:1' }] },
  };
  const pods = '/api/v1/namespaces/default/pods';
  await post(pod, pods);
  const answer = await ask(`${pods}/web/status`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json', 'user-agent': 'kubelet/v1' },
    body: { spec: { nodeName: 'n' }, status: { phase: 'Running' } },
  });
  const updated = jsonOf(answer);
  expect([answer.code, updated['status']]).toMatchObject([200, { phase: 'Running' }]);
  expect((updated['spec'] as { nodeName?: string }).nodeName).toBeUndefined();
  expect(updated.metadata?.managedFields?.find(({ manager }) => manager === 'kubelet')).toMatchObject({
    operation: 'Update',
    subresource: 'status',
    fieldsV1: { 'f:status': { 'f:phase': {} } },
  });
});

test('the trace of a write names the parts of its way', async () => {
  await ask(`${CONFIG_MAPS}?dryRun=All`, {
    method: 'POST',
    body: configMap('traced'),
    headers: { 'audit-id': 'traced' },
  });
  const stages = server.server.traces.find('traced')?.stages.map(({ stage }) => stage) ?? [];
  expect(stages).toEqual(
    expect.arrayContaining([
      'conversion',
      'mutating-admission',
      'validation',
      'validating-admission',
      'storage',
      'api',
    ]),
  );
});

test('one object is watched by its name, also by the old path', async () => {
  await post(configMap('single'));
  const paths = [
    `${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dsingle`,
    '/api/v1/watch/namespaces/default/configmaps/single',
  ];
  for (const path of paths) {
    const watch = openWatch(path);
    const [added] = await watch.take(1);
    expect([added?.type, added?.object.metadata?.name]).toEqual(['ADDED', 'single']);
    watch.close();
  }
});

test('a body past the limit is refused by its size', async () => {
  const answer = await post(configMap('large', { a: 'x'.repeat(3 * 1024 * 1024) }));
  expect([answer.code, jsonOf<Status>(answer).message]).toEqual([
    413,
    'Request entity too large: limit is 3145728',
  ]);
});

test('bare metadata is answered where it is asked for, of one and of many', async () => {
  await post(configMap('meta', { a: '1' }, { meta: '' }));
  const as = (kind: string): Record<string, string> => ({
    accept: `application/json;as=${kind};v=v1;g=meta.k8s.io`,
  });
  const one = jsonOf(await ask(`${CONFIG_MAPS}/meta`, { headers: as('PartialObjectMetadata') }));
  expect([one.kind, one.metadata?.name, one['data']]).toEqual(['PartialObjectMetadata', 'meta', undefined]);
  const path = `${CONFIG_MAPS}?labelSelector=meta`;
  const many = jsonOf<{ kind: string; items: KubernetesObject[] }>(
    await ask(path, { headers: as('PartialObjectMetadataList') }),
  );
  expect([many.kind, many.items.map(({ kind }) => kind)]).toEqual([
    'PartialObjectMetadataList',
    ['PartialObjectMetadata'],
  ]);
  expect((await ask(path, { headers: as('PartialObjectMetadata') })).code).toBe(406);
});

test('watches end as whole answers when the server stops', async () => {
  const watch = openWatch(`${CONFIG_MAPS}?watch=1&labelSelector=nobody`);
  await watch.begun;
  const stopped = server.server.shutdown({ graceMs: 10_000 });
  await watch.over();
  expect(watch.stream.rstCode).toBe(0);
  session.close();
  await stopped;
});

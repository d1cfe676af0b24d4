import { request as httpsRequest } from 'node:https';
import type { ClientHttp2Session } from 'node:http2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { seededRandom } from '../../core/base/random.ts';
import { apiVersionOf, type Status } from '../../core/api/meta/index.ts';
import { structOfKind } from '../../core/api/schema/index.ts';
import { registryOf } from '../../core/api/scheme/index.ts';
import type { Stage } from '../../core/apiserver/server/pipeline.ts';
import type { Store } from '../../core/apiserver/storage/store.ts';
import { fuzzRequest, type FuzzRequest, type FuzzTarget } from '../support/api-fuzz.ts';
import {
  askOver,
  authority,
  clientOf,
  openHttp2,
  startTestServer,
  type Answer,
  type TestServer,
} from '../support/apiserver.ts';
import { startFuzzServer } from '../support/fuzz-server.ts';

const MINOR = 36;
/** Fixed, so that a run tells about the change at hand; another one looks elsewhere. */
const seed = Number(process.env['PILOTHOUSE_SEED'] ?? 1);
const REQUESTS = Number(process.env['PILOTHOUSE_FUZZ_REQUESTS'] ?? 1500);
/** Connections to kubelets answer with what the kubelet says; there is none here. */
const CONNECTIONS = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Enough to see what is wrong; a broken server is not asked on. */
const PROBLEMS_MAX = 10;

const opened: (() => Promise<void> | void)[] = [];
const admin = clientOf(authority, 'admin', ['system:masters']);
let defects: unknown[] = [];
let server: TestServer;
let handlers: readonly Stage[];
let store: Store;
let session: ClientHttp2Session;

beforeAll(async () => {
  ({ server, handlers, store, defects } = await startFuzzServer({ minor: MINOR, seed, opened }));
  session = openHttp2(server.port, admin);
  session.on('error', () => undefined);
  session.setMaxListeners(0);
  opened.push(() => session.close());
  await send({
    method: 'POST',
    path: '/api/v1/namespaces',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"metadata":{"name":"fuzz"}}'),
  });
  await send({
    method: 'POST',
    path: '/api/v1/namespaces/fuzz/serviceaccounts',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"metadata":{"name":"default"}}'),
  });
});

afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

const send = ({ method, path, headers, body }: FuzzRequest): Promise<Answer> =>
  askOver(session, { method, path, headers, ...(body && { body }) });

const textOf = ({ method, path, headers, body }: FuzzRequest): string =>
  `${method} ${path} ${JSON.stringify(headers)} ${body?.toString('utf8').slice(0, 2000) ?? ''}`;

const everything = async (): Promise<string> => {
  const { items } = await store.list('/registry/');
  // The port ranges are looked after in the background.
  return items
    .filter(({ key }) => !key.startsWith('/registry/ranges/'))
    .map(({ key, value }) => `${key} ${Buffer.from(value).toString('latin1')}`)
    .join('\n');
};

const changedLines = (before: string, after: string): readonly string[] => {
  const known = new Set(before.split('\n'));
  return after.split('\n').filter((line) => !known.has(line));
};

const targets = (): FuzzTarget[] => {
  const found: FuzzTarget[] = [];
  for (const type of registryOf(MINOR).resources) {
    const gvk = { group: type.group, version: type.version, kind: type.kind };
    const own = structOfKind(gvk, MINOR);
    if (own === undefined) continue;
    const root = type.group === '' ? '/api/v1' : `/apis/${type.group}/${type.version}`;
    const collection = `${root}${type.namespaced ? '/namespaces/fuzz' : ''}/${type.plural}`;
    const named = { struct: own, apiVersion: apiVersionOf(gvk), kind: type.kind };
    found.push({ ...named, path: collection, name: '' });
    for (const name of ['n1', 'n2', 'n3']) found.push({ ...named, path: `${collection}/${name}`, name });
    for (const sub of type.subresources) {
      if (CONNECTIONS.has(sub.name)) continue;
      const struct = (sub.kind && structOfKind(sub.kind, MINOR)) ?? own;
      const { kind = type.kind } = sub.kind ?? {};
      const apiVersion = apiVersionOf(sub.kind ?? gvk);
      found.push({ path: `${collection}/n1/${sub.name}`, name: 'n1', struct, apiVersion, kind });
    }
  }
  return found;
};

const isDryRun = ({ path }: FuzzRequest): boolean => /[?&]dryRun=All/.test(path);

/** Upstream answers these with 500 as well. */
const DECLARED_500 = [
  'resourceVersion should not be set on objects to be created',
  'strconv.ParseUint: parsing',
  'failed to create typed patch object',
  'failed to create typed live object',
  'target.name: ',
  'target.kind: ',
  'unable to determine kind and namespace from url',
];

const problemOf = ({ code, headers, body }: Answer): string | undefined => {
  if (code < 400) return undefined;
  const text = body.toString('utf8');
  if (code >= 500 && !DECLARED_500.some((known) => text.includes(known))) return `answered ${code}`;
  const type = headers['content-type'];
  if (type !== 'application/json' && type !== 'application/yaml') {
    const isPlain = code === 400 || code === 500 || text === '404 page not found\n';
    return isPlain ? undefined : `answered ${code} as ${String(type)}`;
  }
  const status = (type === 'application/json' ? JSON.parse(text) : parseYaml(text)) as Status;
  const isStatus = status.kind === 'Status' && status.apiVersion === 'v1' && status.status === 'Failure';
  return isStatus && status.code === code ? undefined : 'answered something that is no Status of its code';
};

test(`whatever is sent is answered as upstream would, and what is refused leaves no trace (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const all = targets();
  const codes = new Map<number, number>();
  const problems: unknown[] = [];
  let before = await everything();
  let revision = await store.currentRevision();
  for (let n = 0; n < REQUESTS; n += 1) {
    const target = n < all.length ? all[n]! : all[random.below(all.length)]!;
    const request = fuzzRequest(random, target);
    const answer = await send(request).catch((error: unknown): Answer => ({
      code: 599,
      headers: {},
      body: Buffer.from(String(error)),
    }));
    codes.set(answer.code, (codes.get(answer.code) ?? 0) + 1);
    const shown = `seed ${seed}, request ${n}: ${textOf(request)}\n${answer.body.toString('utf8').slice(0, 1000)}`;
    const problem = problemOf(answer);
    if (problem !== undefined) problems.push({ problem, shown, defects: defects.splice(0) });
    if (problems.length >= PROBLEMS_MAX) break;
    const now = request.method === 'GET' ? revision : await store.currentRevision();
    if (now === revision) continue;
    revision = now;
    const after = await everything();
    // Addresses are claimed before validation and given back after it: the store moves, and holds the same.
    const mayChange = answer.code < 400 && !isDryRun(request);
    if (!mayChange && after !== before)
      problems.push({ problem: 'refused, and stored', shown, changed: changedLines(before, after) });
    before = after;
  }
  expect(problems).toEqual([]);
  expect([...codes.keys()].sort()).toEqual(expect.arrayContaining([200, 201, 400, 404, 405, 406, 415, 422]));
  const alive = await send({ method: 'GET', path: '/readyz', headers: {}, body: undefined });
  expect(alive.code).toBe(200);
}, 300_000);

/** Objects that were stored are read again by what interprets their fields: printers, selectors, quota, versions. */
test('whatever was stored can be listed in every form', async () => {
  const forms = [
    'application/json',
    'application/yaml',
    'application/json;as=Table;g=meta.k8s.io;v=v1',
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  ];
  const queries = ['', '?limit=3', '?labelSelector=a%21%3Db', '?fieldSelector=metadata.name%21%3Dn1'];
  const failed: unknown[] = [];
  for (const { path, name } of targets().filter((one) => one.name === ''))
    for (const accept of forms)
      for (const query of queries) {
        const { code, body } = await send({
          method: 'GET',
          path: `${path}${query}`,
          headers: { accept },
          body: undefined,
        });
        if (code >= 500)
          failed.push({ path, name, query, accept, code, text: body.toString('utf8').slice(0, 300) });
      }
  expect(failed).toEqual([]);
});

const CONFIG_MAPS = '/api/v1/namespaces/fuzz/configmaps';
const JSON_BODY = { 'content-type': 'application/json' };
const NOT_A_CONFIG_MAP = (why: string): string =>
  `ConfigMap in version "v1" cannot be handled as a ConfigMap: ${why}`;

interface Case {
  readonly what: string;
  readonly request: Partial<FuzzRequest>;
  readonly code: number;
  readonly message: string | RegExp;
}

const create = (body: string | Buffer, query = '', headers: Record<string, string> = JSON_BODY) => ({
  method: 'POST',
  path: `${CONFIG_MAPS}${query}`,
  headers,
  body: Buffer.from(body),
});
const read = (path: string) => ({ method: 'GET', path, headers: {}, body: undefined });

const CASES: readonly Case[] = [
  {
    what: 'JSON that ends too early',
    request: create('{"metadata":{'),
    code: 400,
    message:
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"metadata":{)',
  },
  {
    what: 'an empty body',
    request: create(''),
    code: 400,
    message:
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  },
  {
    what: 'a number where a text belongs',
    request: create('{"metadata":{"name":"a"},"data":{"a":1}}'),
    code: 400,
    message: NOT_A_CONFIG_MAP(
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ),
  },
  {
    what: 'a list where an object belongs',
    request: create('{"metadata":[]}'),
    code: 400,
    message: NOT_A_CONFIG_MAP(
      'json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
    ),
  },
  {
    what: 'an unknown field, strictly',
    request: create('{"metadata":{"name":"a"},"dta":{}}', '?fieldValidation=Strict'),
    code: 400,
    message: NOT_A_CONFIG_MAP('strict decoding error: unknown field "dta"'),
  },
  {
    what: 'a duplicate field, strictly',
    request: create('{"metadata":{"name":"a","name":"b"}}', '?fieldValidation=Strict'),
    code: 400,
    message: NOT_A_CONFIG_MAP('strict decoding error: duplicate field "metadata.name"'),
  },
  {
    what: 'another kind',
    request: create('{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}'),
    code: 400,
    message:
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  },
  {
    what: 'YAML that is none',
    request: create('a: [', '', { 'content-type': 'application/yaml' }),
    code: 400,
    message:
      /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; .*yaml: /,
  },
  {
    what: 'a nesting of 100,000 lists',
    request: create('['.repeat(100_000)),
    code: 400,
    message: /exceeded max depth/,
  },
  ...['[', '- ', '? ', '{a: ', '&a [', '!!seq [', '"a": {'].map((level) => ({
    what: `a nesting of 100,000 ${level}`,
    request: create(level.repeat(100_000), '', { 'content-type': 'application/yaml' }),
    code: 400,
    message: /yaml: exceeded max depth/,
  })),
  {
    what: 'a media type that nobody reads',
    request: create('x', '', { 'content-type': 'text/plain' }),
    code: 415,
    message:
      /^the body of the request was in an unknown format - accepted media types include: application\/json, /,
  },
  {
    what: 'a body above 3 MiB',
    request: create(Buffer.alloc(3 * 1024 * 1024 + 1, 0x20)),
    code: 413,
    message: 'Request entity too large: limit is 3145728',
  },
  {
    what: 'a new object with a version',
    request: create('{"metadata":{"name":"a","resourceVersion":"5"}}'),
    code: 500,
    message: 'resourceVersion should not be set on objects to be created',
  },
  {
    what: 'a list at a version that is no number',
    request: read(`${CONFIG_MAPS}?resourceVersion=abc`),
    code: 400,
    message:
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  },
  {
    what: 'a watch from a version that is no number',
    request: read(`${CONFIG_MAPS}?resourceVersion=abc&watch=1`),
    code: 500,
    message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  },
  {
    what: 'a version of the future',
    request: read(`${CONFIG_MAPS}?resourceVersion=999999999&timeoutSeconds=1`),
    code: 504,
    message: /^Timeout: Too large resource version: 999999999, current: \d+$/,
  },
  {
    what: 'a token to continue with that is none',
    request: read(`${CONFIG_MAPS}?continue=x!z&limit=1`),
    code: 400,
    message: 'invalid continue token: continue key is not valid: illegal base64 data at input byte 1',
  },
  {
    what: 'a name that leaves its folder',
    request: read(`${CONFIG_MAPS}/..%2f..%2fsecrets`),
    code: 404,
    message: /.*/,
  },
  {
    what: 'percent signs that are none',
    request: read(`${CONFIG_MAPS}/%zz`),
    code: 400,
    message: /.*/,
  },
];

test.each(CASES)('$what is refused with upstream’s words, and nothing is stored', async (one) => {
  const before = await everything();
  const answer = await send({ method: 'GET', path: '/', headers: {}, body: undefined, ...one.request });
  const text = answer.body.toString('utf8');
  const message = text.startsWith('{') ? (JSON.parse(text) as Status).message : text;
  expect([answer.code, message]).toEqual([
    one.code,
    typeof one.message === 'string' ? one.message : expect.stringMatching(one.message),
  ]);
  expect(await everything()).toBe(before);
});

test.each([250, 990])('fields without a schema may nest %i levels', async (levels) => {
  const data = `${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`;
  const body = `{"metadata":{"name":"deep-${levels}"},"revision":1,"data":${data}}`;
  const path = '/apis/apps/v1/namespaces/fuzz/controllerrevisions';
  const made = await send({ method: 'POST', path, headers: JSON_BODY, body: Buffer.from(body) });
  expect([made.code, made.body.toString('utf8')]).toEqual([201, expect.stringContaining(data)]);
  const changed = await send({
    method: 'PATCH',
    path: `${path}/deep-${levels}?fieldManager=m&force=true`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: Buffer.from(
      `{"kind":"ControllerRevision","apiVersion":"apps/v1","metadata":{"name":"deep-${levels}"},"revision":1,"data":${data}}`,
    ),
  });
  expect(changed.code).toBe(200);
});

test('invalid UTF-8 in JSON is replaced, as Go does', async () => {
  const answer = await send({
    ...create(Buffer.from('{"metadata":{"name":"bytes"},"data":{"a":"\xff"}}', 'latin1'), '?dryRun=All'),
  });
  expect([answer.code, JSON.parse(answer.body.toString('utf8'))]).toMatchObject([
    201,
    { data: { a: '\ufffd' } },
  ]);
});

test('a client that sends its body drop by drop is answered in time, and delays no one', async () => {
  const hasty = await startTestServer({ handlers, limits: { requestTimeoutMs: 1_000 } });
  opened.push(() => hasty.server.shutdown({ graceMs: 0 }));
  const slow = httpsRequest({
    host: '127.0.0.1',
    port: hasty.port,
    path: CONFIG_MAPS,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': '1000' },
    agent: false,
    ca: authority.certificatePem,
    cert: admin.certificatePem,
    key: admin.privateKeyPem,
  });
  const answered = new Promise<number | string>((resolve) => {
    slow.on('response', (answer) => resolve(answer.statusCode ?? 0));
    slow.on('error', (error) => resolve(error.message));
  });
  slow.write('{"metadata":{');
  const others = await send(read(CONFIG_MAPS));
  expect(others.code).toBe(200);
  expect(await answered).toBe(504);
  slow.destroy();
});

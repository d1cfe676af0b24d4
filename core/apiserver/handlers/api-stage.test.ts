import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { silentLog } from '../../base/log.ts';
import { Registry as Metrics } from '../../base/metrics/index.ts';
import { seededRandom } from '../../base/random.ts';
import type { KubernetesObject, Status } from '../../api/meta/index.ts';
import { readGates, releaseOf } from '../../api/releases/index.ts';
import type { AdmissionChain } from '../admission/attributes.ts';
import { userInfo } from '../server/user.ts';
import { noOpinion } from '../authz/authorizer.ts';
import { MemoryStore } from '../registry/testing/fixtures.ts';
import { createRegistry, type ObjectRegistry } from '../registry/create-registry.ts';
import { runPipeline, type Stage } from '../server/pipeline.ts';
import { fakeContext, type FakeRequest } from '../server/testing/fake-context.ts';
import { systemClock } from '../../base/node/clock.ts';
import { apiStage, type ApiStageOptions } from './api-stage.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const admin = userInfo('admin', ['system:masters']);

let store: MemoryStore;
let registry: ObjectRegistry;
let seen: string[];

const admission: AdmissionChain = {
  async admit({ operation, name, object, isDryRun }) {
    await Promise.resolve();
    seen.push(`admit ${operation} ${name}${isDryRun ? ' dry' : ''}`);
    if (object?.metadata?.labels) object.metadata.labels['admitted'] = 'yes';
  },
  async validate({ operation, name, object, oldObject }) {
    await Promise.resolve();
    const which = `${object ? 'new' : ''}${oldObject ? 'old' : ''}`;
    seen.push(`validate ${operation} ${name} ${which}`);
  },
};

const stageOf = (options: Partial<ApiStageOptions> = {}): Stage =>
  apiStage({
    registry,
    admission,
    minor: 36,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    metrics: new Metrics(),
    ...options,
  });

beforeEach(() => {
  store = new MemoryStore();
  seen = [];
  registry = createRegistry({
    store,
    minor: 36,
    clock: systemClock,
    random: seededRandom(2),
    log: silentLog,
  });
});
afterEach(() => registry.close());

const ask = async (fake: FakeRequest, stage: Stage = stageOf()) => {
  const { context, sent } = fakeContext({ user: admin, ...fake });
  await runPipeline([stage], context, { clock: systemClock, log: silentLog });
  const json = <T = KubernetesObject>(): T => JSON.parse(sent.text()) as T;
  return { code: sent.code, headers: sent.headers, sent, json, message: () => json<Status>().message };
};

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  ask({ method: 'POST', url, headers, body: typeof body === 'string' ? body : JSON.stringify(body) });

const configMap = (metadata: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  ...rest,
});

test.each([
  ['{', "couldn't get version/kind; json parse error: unexpected end of JSON input ({)"],
  ['', "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"],
])('the body %j is no object', async (body, why) => {
  const { code, message } = await post(CONFIG_MAPS, body);
  expect([code, message()]).toEqual([
    400,
    `the object provided is unrecognized (must be of type ConfigMap): ${why}`,
  ]);
});

test.each([
  [
    { apiVersion: 'v1', kind: 'Secret' },
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    { apiVersion: 'v9', kind: 'ConfigMap' },
    'ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    configMap({ name: 'a' }, { data: { a: 1 } }),
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  ],
  [
    configMap({ name: 'a', namespace: 'other' }),
    'the namespace of the provided object does not match the namespace sent on the request',
  ],
])('%j is refused with the words of upstream', async (body, why) => {
  const { code, message } = await post(CONFIG_MAPS, body);
  expect([code, message()]).toEqual([400, why]);
});

test('an object in another version than the path is refused', async () => {
  const { message } = await post('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
  });
  expect(message()).toBe(
    'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)',
  );
});

test('kind and version may be left out: the path says them', async () => {
  const { code, json } = await post(CONFIG_MAPS, { metadata: { name: 'bare' } });
  expect([code, json().kind]).toEqual([201, 'ConfigMap']);
});

test('a name that is not that of the path is refused', async () => {
  const { message } = await ask({
    method: 'PUT',
    url: `${CONFIG_MAPS}/a`,
    body: JSON.stringify(configMap({ name: 'b' })),
  });
  expect(message()).toBe('the name of the object (b) does not match the name on the URL (a)');
});

test('admission changes a new object before it is validated, and sees the result', async () => {
  const { json } = await post(`${CONFIG_MAPS}?dryRun=All`, configMap({ name: 'a', labels: { x: 'y' } }));
  expect(json().metadata?.labels).toEqual({ x: 'y', admitted: 'yes' });
  expect(seen).toEqual(['admit CREATE a dry', 'validate CREATE a new']);
});

test('an update that loses a race is retried with the newer object', async () => {
  await post(CONFIG_MAPS, configMap({ name: 'raced' }, { data: { a: '1' } }));
  const key = '/registry/configmaps/default/raced';
  store.beforeWrite = () => {
    store.beforeWrite = undefined;
    const text = JSON.stringify(
      configMap({ name: 'raced', namespace: 'default', uid: 'u' }, { data: { b: '2' } }),
    );
    store.put(key, Buffer.from(text));
  };
  seen = [];
  const { json } = await ask({
    method: 'PATCH',
    url: `${CONFIG_MAPS}/raced`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ data: { c: '3' } }),
  });
  expect(json()['data']).toEqual({ b: '2', c: '3' });
  expect(seen.filter((line) => line.startsWith('admit'))).toEqual([
    'admit UPDATE raced',
    'admit UPDATE raced',
  ]);
});

test('permission to patch does not allow creating by apply', async () => {
  const stage = stageOf({ authorizer: { authorize: () => noOpinion('no rule says so') } });
  const { code, message } = await ask(
    {
      method: 'PATCH',
      url: `${CONFIG_MAPS}/new?fieldManager=m`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify(configMap({ name: 'new' })),
    },
    stage,
  );
  expect([code, message()]).toEqual([
    403,
    'configmaps "new" is forbidden: User "admin" cannot create resource "configmaps" in API group "" in the namespace "default": no rule says so',
  ]);
});

test.each([
  [
    '?fieldManager=x',
    'application/apply-patch+yaml',
    '{"kind":"Secret","apiVersion":"v1"}',
    400,
    'invalid object type: v1, Kind=Secret',
  ],
  [
    '',
    'application/apply-patch+yaml',
    '{}',
    422,
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  ],
  [
    '?force=true',
    'application/merge-patch+json',
    '{}',
    422,
    'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  ],
  ['', 'application/merge-patch+json', '{', 400, 'error decoding patch: unexpected end of JSON input'],
  [
    '',
    'application/json-patch+json',
    '[{"op":"remove","path":"/data/x"}]',
    422,
    'the server rejected our request due to an error in our request',
  ],
])('a patch %s of %s with %s is refused', async (query, type, body, code, why) => {
  await post(CONFIG_MAPS, configMap({ name: 'p' }));
  const answer = await ask({
    method: 'PATCH',
    url: `${CONFIG_MAPS}/p${query}`,
    headers: { 'content-type': type },
    body,
  });
  expect([answer.code, answer.message()]).toEqual([code, why]);
});

test.each([
  [
    '?resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  ],
  [
    '?resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  ['?sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
  [
    '?watch=1&sendInitialEvents=true',
    'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  ],
  [
    '?watch=1&resourceVersionMatch=NotOlderThan',
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  ],
])('a list with %s is invalid', async (query, why) => {
  const { code, message } = await ask({ url: `${CONFIG_MAPS}${query}` });
  expect([code, message()]).toEqual([422, `ListOptions.meta.k8s.io "" is invalid: ${why}`]);
});

test('empty fields that upstream encodes are encoded', async () => {
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  const names = await ask({ url: CONFIG_MAPS, headers: { accept } });
  expect(names.json()['items']).toBeNull();
  const role = await post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'none' },
  });
  expect(role.json()['rules']).toBeNull();
  const removed = await ask({ method: 'DELETE', url: `${CONFIG_MAPS}/a`, body: '{"kind":"Nope"}' });
  expect([removed.code, removed.message()]).toEqual([
    400,
    'no kind "Nope" is registered for version "meta.k8s.io/v1" in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
  ]);
});

test('without the gate WatchList a watch sends no initial events', async () => {
  const gates = readGates(['WatchList=false'], releaseOf(36), new Set(['WatchList']));
  if ('problem' in gates) throw new Error(gates.problem);
  const url = `${CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
  const { code, message } = await ask({ url }, stageOf({ gates }));
  expect([code, message()]).toEqual([
    422,
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
  ]);
});

test.each([
  ['?limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
  [
    '?fieldSelector=spec.x%3Dy',
    '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
])('a list with %s is a bad request', async (query, why) => {
  const { code, message } = await ask({ url: `${CONFIG_MAPS}${query}` });
  expect([code, message()]).toEqual([400, why]);
});

test('duplicate owners are reported and kept once', async () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  const { json, headers } = await post(
    CONFIG_MAPS,
    configMap({ name: 'owned', ownerReferences: [owner, owner] }),
  );
  expect(json().metadata?.ownerReferences).toEqual([owner]);
  expect(headers.get('warning')).toMatch(
    /^299 - "\.metadata\.ownerReferences contains duplicate entries;.*: u"$/,
  );
});

test('a scale changes the replicas, and who scales owns them', async () => {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await post(
    DEPLOYMENTS,
    { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } },
    { 'user-agent': 'author/1' },
  );
  const { json } = await ask({
    method: 'PATCH',
    url: `${DEPLOYMENTS}/web/scale`,
    headers: { 'content-type': 'application/merge-patch+json', 'user-agent': 'scaler/1' },
    body: JSON.stringify({ spec: { replicas: 4 } }),
  });
  expect(json()).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 4 } });
  const deployment = (await ask({ url: `${DEPLOYMENTS}/web` })).json();
  expect(deployment['spec']).toMatchObject({ replicas: 4 });
  const owned = Object.fromEntries(
    (deployment.metadata?.managedFields ?? []).map(({ manager, fieldsV1 }) => [
      manager,
      Object.keys((fieldsV1?.['f:spec'] ?? {}) as object).includes('f:replicas'),
    ]),
  );
  expect(owned).toEqual({ author: false, scaler: true });
});

test('a watch that starts too early gets an error in its stream', async () => {
  await post(CONFIG_MAPS, configMap({ name: 'a' }));
  await ask({ url: CONFIG_MAPS });
  const { code, json } = await ask({ url: `${CONFIG_MAPS}?watch=1&resourceVersion=1` });
  expect([code, json()]).toMatchObject([
    200,
    { type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410 } },
  ]);
});

test('a watch without a limit of its own ends after once to twice the least time', async () => {
  const clock = manualClock();
  const stage = stageOf({ clock, watchTimeoutMinSeconds: 10, random: { next: () => 0.5, below: () => 0 } });
  await ask({ url: CONFIG_MAPS });
  let isOver = false;
  const watching = ask({ url: `${CONFIG_MAPS}?watch=1&resourceVersion=0` }, stage).then((answer) => {
    isOver = true;
    return answer;
  });
  while (clock.pendingCount === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(14_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  clock.advance(1);
  expect((await watching).code).toBe(200);
});

test('the texts of a secret are owned as its data', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'texts' }, stringData: { a: 'y' } };
  const { json } = await post('/api/v1/namespaces/default/secrets', secret);
  const { metadata, ...rest } = json();
  expect([rest, metadata?.managedFields?.[0]?.fieldsV1]).toEqual([
    { kind: 'Secret', apiVersion: 'v1', data: { a: 'eQ==' }, type: 'Opaque' },
    { 'f:data': { '.': {}, 'f:a': {} }, 'f:type': {} },
  ]);
});

test.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH'])('%s of a collection is not allowed', async (method) => {
  expect((await ask({ method, url: CONFIG_MAPS })).code).toBe(405);
});

test.each([
  '/api/v1/namespaces/default/nodes',
  '/api/v1/configmaps/a',
  `${CONFIG_MAPS}/a/status`,
  `${CONFIG_MAPS}/a/b/c`,
])('there is nothing at %s', async (url) => {
  expect((await ask({ url })).code).toBe(404);
});

test('a request for no resource is left to other stages', async () => {
  const { context } = fakeContext({ url: '/version' });
  expect(await stageOf().run(context)).toBe('next');
});

describe('an object that admission answers in place of the one sent', () => {
  const answering = (change: (metadata: Record<string, unknown>) => Record<string, unknown>): Stage =>
    stageOf({
      admission: {
        admit: ({ object }) =>
          Promise.resolve({ ...object, metadata: change({ ...object?.metadata }) } as KubernetesObject),
        validate: () => Promise.resolve(),
      },
    });
  const create = (stage: Stage) =>
    ask(
      {
        method: 'POST',
        url: CONFIG_MAPS,
        headers: {},
        body: JSON.stringify({ ...configMap({ name: 'a' }), data: { key: 'value' } }),
      },
      stage,
    );

  test('is stored', async () => {
    const { code, json } = await create(
      answering((metadata) => ({ ...metadata, labels: { by: 'admission' } })),
    );
    expect([code, json().metadata?.labels]).toEqual([201, { by: 'admission' }]);
  });

  test('stays in the namespace of the request', async () => {
    const { code, message } = await create(answering((metadata) => ({ ...metadata, namespace: 'other' })));
    expect([code, message()]).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ]);
  });

  test('keeps its owners of fields if admission spoils them', async () => {
    const { code, headers, json } = await create(
      answering((metadata) => ({ ...metadata, managedFields: [{ operation: 'Nope' }] })),
    );
    expect([code, json().metadata?.managedFields?.map(({ operation }) => operation)]).toEqual([
      201,
      ['Update'],
    ]);
    expect(String(headers.get('warning'))).toContain(
      '.metadata.managedFields was in an invalid state after admission',
    );
  });
});

test('an integer above 2^53 keeps its digits through every verb', async () => {
  const url = '/api/v1/namespaces/default/pods';
  const digits = '9007199254740993';
  const pod = (seconds: string): string =>
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"tolerations":[{"key":"k","effect":"NoExecute","operator":"Exists","tolerationSeconds":${seconds}}],"containers":[{"name":"c","image":"i"}]}}`;
  const told = async (fake: FakeRequest): Promise<unknown> => {
    const { sent } = await ask(fake);
    return [sent.code, /"?tolerationSeconds"?: ?([^,}\s]*)/.exec(sent.text())?.[1]];
  };
  const patch = (type: string, body: string): FakeRequest => ({
    method: 'PATCH',
    url: `${url}/a?fieldManager=m`,
    headers: { 'content-type': `application/${type}` },
    body,
  });
  expect([
    await told({ method: 'POST', url, body: pod(digits) }),
    await told({ method: 'GET', url: `${url}/a` }),
    await told({ method: 'GET', url: `${url}/a?pretty=true` }),
    await told({ method: 'GET', url: `${url}/a`, headers: { accept: 'application/yaml' } }),
    await told({ method: 'GET', url }),
    await told(patch('merge-patch+json', '{"metadata":{"labels":{"a":"b"}}}')),
    await told(patch('strategic-merge-patch+json', '{"metadata":{"labels":{"a":"c"}}}')),
    await told(
      patch(
        'json-patch+json',
        `[{"op":"test","path":"/spec/tolerations/0/tolerationSeconds","value":${digits}},{"op":"add","path":"/metadata/labels/d","value":"e"}]`,
      ),
    ),
    await told(patch('apply-patch+yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {f: g}}\n')),
  ]).toEqual([[201, digits], ...Array.from({ length: 8 }, () => [200, digits])]);
  const wrong = await post(
    url,
    pod('1').replace('"image":"i"', `"image":"i","ports":[{"containerPort":${digits}}]`),
  );
  expect(wrong.message()).toContain(
    `json: cannot unmarshal number ${digits} into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32`,
  );
});

test.each([
  ['json-patch+json', '{}', 'object into Go value of type []handlers.jsonPatchOp'],
  ['merge-patch+json', '[]', 'array into Go value of type map[string]interface {}'],
])('a %s that is %s is refused', async (type, body, why) => {
  await post(CONFIG_MAPS, configMap({ name: 'a' }));
  const { code, message } = await ask({
    method: 'PATCH',
    url: `${CONFIG_MAPS}/a`,
    headers: { 'content-type': `application/${type}` },
    body,
  });
  expect([code, message()]).toEqual([400, `error decoding patch: json: cannot unmarshal ${why}`]);
});

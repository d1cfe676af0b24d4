import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { Registry } from '../../../base/metrics/index.ts';
import { systemClock } from '../../../base/node/clock.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { allow, noOpinion } from '../../authz/authorizer.ts';
import {
  foreignCaBundle,
  startTestWebhook,
  type Respond,
  type TestWebhook,
} from '../../webhook/testing/webhook-server.ts';
import { createWebhookClient, type WebhookClient } from '../../webhook/webhook-client.ts';
import type { AdmissionChain } from '../attributes.ts';
import { createAdmissionChain } from '../chain.ts';
import { createDynamicAdmission } from '../dynamic.ts';
import { fakeInformer, type FakeInformer } from '../testing/fake-informer.ts';
import { readerOf, wish, type Wish } from '../testing/fixtures.ts';

type Obj = Record<string, unknown>;
type Review = { readonly request: Obj & { readonly uid: string; readonly object: KubernetesObject } };
type Answer = (review: Review) => Obj;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let client: WebhookClient;
let informer: FakeInformer;
let metrics: Registry;
let chain: AdmissionChain;
let logged: string[];

const NAMESPACE: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'ns', labels: { team: 'a' } },
};

beforeEach(() => {
  metrics = new Registry();
  informer = fakeInformer();
  logged = [];
  client = createWebhookClient({
    clock: systemClock,
    resolve: () => Promise.reject(new Error('service "hook" not found')),
  });
  closing.push(() => client.dispose());
  const dynamic = createDynamicAdmission({
    reader: readerOf([NAMESPACE]),
    authorizer: { authorize: ({ verb }) => Promise.resolve(verb === 'break' ? allow() : noOpinion()) },
    client,
    findResource: () => Promise.resolve(undefined),
    convertCustom: (objects) => Promise.resolve(objects),
    minor: 36,
    clock: systemClock,
    metrics,
    log: { ...silentLog, write: (_level, text) => void logged.push(text) },
  });
  dynamic.follow(informer);
  const { MutatingAdmissionWebhook, ValidatingAdmissionWebhook } = dynamic.plugins;
  chain = createAdmissionChain([MutatingAdmissionWebhook, ValidatingAdmissionWebhook], {
    clock: systemClock,
  });
});

const reviewing =
  (answer: Answer): Respond =>
  (body, response) => {
    const review = JSON.parse(body) as Review & KubernetesObject;
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        apiVersion: review.apiVersion,
        kind: 'AdmissionReview',
        response: { uid: review.request.uid, ...answer(review) },
      }),
    );
  };

const serve = async (respond: Respond): Promise<TestWebhook> => {
  const server = await startTestWebhook(respond);
  closing.push(() => server.close());
  return server;
};

const patchOf = (...operations: Obj[]): Obj => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
const labelled = (key: string): Obj => patchOf({ op: 'add', path: `/metadata/labels/${key}`, value: 'yes' });

const RULE = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*/*'],
  scope: '*',
};

/** As defaulting leaves it. */
const webhook = ({ url, caBundle }: TestWebhook, name: string, rest: Obj = {}): Obj => ({
  name,
  clientConfig: { url: url(`/${name}`), caBundle },
  rules: [RULE],
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  sideEffects: 'None',
  timeoutSeconds: 10,
  admissionReviewVersions: ['v1'],
  ...rest,
});

const configure = (type: 'mutating' | 'validating', name: string, ...webhooks: Obj[]): void =>
  informer.upsert(`${type}webhookconfigurations`, { metadata: { name }, webhooks });

const pod = (labels: Record<string, string> = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'web', labels },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

const admitted = async (
  rest: Wish = {},
): Promise<{ attributes: ReturnType<typeof wish>; object: KubernetesObject | undefined }> => {
  const attributes = wish({ object: pod(), ...rest });
  const object = await chain.admit(attributes);
  await chain.validate({ ...attributes, object });
  return { attributes, object };
};
const refused = async (rest: Wish = {}): Promise<unknown> =>
  admitted(rest).then(
    ({ attributes }) => ['admitted', ...attributes.warnings],
    (error: { code: number; reason: string; message: string }) => [error.code, error.reason, error.message],
  );

test('webhooks are asked by the names of their configurations, each about what those before it left', async () => {
  const seen: unknown[] = [];
  const server = await serve(
    reviewing(({ request }) => {
      seen.push(request.object.metadata?.labels);
      return labelled(`l${seen.length}`);
    }),
  );
  configure('mutating', 'b', webhook(server, 'second.example.com'));
  configure('mutating', 'a', webhook(server, 'first.example.com'));
  const { object, attributes } = await admitted();
  expect(object?.metadata?.labels).toEqual({ l1: 'yes', l2: 'yes' });
  expect(seen).toEqual([{}, { l1: 'yes' }]);
  expect(attributes.records).toEqual([
    expect.objectContaining({
      name: 'a',
      part: 'first.example.com',
      outcome: 'changed',
      patch: ['add /metadata/labels/l1'],
    }),
    expect.objectContaining({ name: 'b', part: 'second.example.com', patch: ['add /metadata/labels/l2'] }),
  ]);
  expect(attributes.annotations.get('mutation.webhook.admission.k8s.io/round_0_index_0')).toBe(
    '{"configuration":"a","webhook":"first.example.com","mutated":true}',
  );
  expect(attributes.annotations.get('patch.webhook.admission.k8s.io/round_0_index_1')).toBe(
    '{"configuration":"b","webhook":"second.example.com","patch":[{"op":"add","path":"/metadata/labels/l2","value":"yes"}],"patchType":"JSONPatch"}',
  );
});

test('a webhook gets everything about the request', async () => {
  let request: Obj = {};
  const server = await serve(
    reviewing((review) => {
      request = review.request;
      return { allowed: true, auditAnnotations: { why: 'because' }, warnings: ['careful'] };
    }),
  );
  configure('validating', 'a', webhook(server, 'look.example.com'));
  const options = { apiVersion: 'meta.k8s.io/v1', kind: 'UpdateOptions' };
  const { attributes } = await admitted({ operation: 'UPDATE', oldObject: pod({ old: 'yes' }), options });
  const { uid, object, oldObject, ...rest } = request;
  expect([typeof uid, object, oldObject]).toEqual(['string', pod(), pod({ old: 'yes' })]);
  expect(rest).toEqual({
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    requestKind: { group: '', version: 'v1', kind: 'Pod' },
    requestResource: { group: '', version: 'v1', resource: 'pods' },
    name: 'web',
    namespace: 'ns',
    operation: 'UPDATE',
    userInfo: { username: 'somebody', groups: ['system:authenticated'] },
    dryRun: false,
    options,
  });
  expect([attributes.warnings, [...attributes.annotations]]).toEqual([
    ['careful'],
    [['look.example.com/why', 'because']],
  ]);
});

test('objects come in the version that a rule matches', async () => {
  const kinds: unknown[] = [];
  const server = await serve(
    reviewing(({ request }) => {
      kinds.push([request['kind'], request['requestKind'], request.object.apiVersion]);
      return patchOf({ op: 'replace', path: '/spec/maxReplicas', value: 7 });
    }),
  );
  const rules = [
    { ...RULE, apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] },
  ];
  configure('mutating', 'a', webhook(server, 'old.example.com', { rules }));
  configure('mutating', 'exact', webhook(server, 'exact.example.com', { rules, matchPolicy: 'Exact' }));
  const object = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace: 'ns', name: 'h' },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
  };
  const { object: result } = await admitted({ of: 'horizontalpodautoscalers.autoscaling', object });
  const [v1, v2] = ['v1', 'v2'].map((version) => ({
    group: 'autoscaling',
    version,
    kind: 'HorizontalPodAutoscaler',
  }));
  expect(kinds).toEqual([[v1, v2, 'autoscaling/v1']]);
  expect(result).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { maxReplicas: 7 } });
});

test.each<[string, Obj]>([
  ['another operation', { rules: [{ ...RULE, operations: ['DELETE'] }] }],
  ['another resource', { rules: [{ ...RULE, resources: ['pods/log', 'services'] }] }],
  ['another scope', { rules: [{ ...RULE, scope: 'Cluster' }] }],
  ['another namespace', { namespaceSelector: { matchLabels: { team: 'b' } } }],
  ['other objects', { objectSelector: { matchLabels: { watched: 'yes' } } }],
  ['other users', { matchConditions: [{ name: 'a', expression: "request.userInfo.username == 'x'" }] }],
  [
    'who may not',
    { matchConditions: [{ name: 'a', expression: "authorizer.path('/x').check('get').allowed()" }] },
  ],
  [
    'a condition that fails, with failures ignored',
    { failurePolicy: 'Ignore', matchConditions: [{ name: 'a', expression: 'object.nope == 1' }] },
  ],
])('a webhook about %s is not asked', async (_name, rest) => {
  const server = await serve(reviewing(() => ({ allowed: false })));
  configure('validating', 'a', webhook(server, 'strict.example.com', rest));
  expect(await refused()).toEqual(['admitted']);
});

test.each<[string, Obj, unknown[]]>([
  [
    'conditions that hold',
    {
      matchConditions: [
        { name: 'a', expression: "authorizer.group('').resource('pods').check('break').allowed()" },
        { name: 'b', expression: "object.spec.containers.all(c, c.image == 'i') && namespaceObject == null" },
      ],
    },
    [400, '', 'admission webhook "strict.example.com" denied the request without explanation'],
  ],
  [
    'a condition that fails',
    { matchConditions: [{ name: 'a', expression: 'object.nope == 1' }] },
    [
      403,
      'Forbidden',
      `pods "web" is forbidden: expression 'object.nope == 1' resulted in error: no such key: nope`,
    ],
  ],
])('a webhook with %s decides', async (_name, rest, expected) => {
  const server = await serve(reviewing(() => ({ allowed: false })));
  configure('validating', 'a', webhook(server, 'strict.example.com', rest));
  expect(await refused()).toEqual(expected);
});

test('configurations of admission are exempt', async () => {
  const server = await serve(reviewing(() => ({ allowed: false })));
  configure('validating', 'a', webhook(server, 'strict.example.com'));
  const object = { metadata: { name: 'a' } };
  expect(
    await refused({ of: 'validatingwebhookconfigurations.admissionregistration.k8s.io', object }),
  ).toEqual(['admitted']);
});

test('a denial carries code, reason and message of the webhook', async () => {
  const status = { code: 418, reason: 'Forbidden', message: 'no tea' };
  const server = await serve(reviewing(() => ({ allowed: false, status })));
  configure('validating', 'a', webhook(server, 'tea.example.com'));
  expect(await refused()).toEqual([
    418,
    'Forbidden',
    'admission webhook "tea.example.com" denied the request: no tea',
  ]);
  expect(metrics.expose()).toContain(
    'apiserver_admission_webhook_rejection_count{error_type="no_error",name="tea.example.com",operation="CREATE",rejection_code="418",type="validating"} 1',
  );
});

const failing = 'Internal error occurred: failed calling webhook "bad.example.com": ';
test.each<[string, Respond, Obj, string]>([
  [
    'hangs',
    () => undefined,
    { timeoutSeconds: 0.05 },
    'failed to call webhook: Post "https://127.0.0.1:PORT/bad.example.com?timeout=1s": context deadline exceeded',
  ],
  [
    'answers garbage',
    (_body, response) => void response.end('{what?'),
    {},
    "failed to call webhook: couldn't get version/kind; json parse error: invalid character 'w' looking for beginning of object key string",
  ],
  [
    'answers nothing about the request',
    (_body, response) => void response.end('{}'),
    {},
    'received invalid webhook response: webhook response was absent',
  ],
  [
    'answers in another version',
    (_body, response) =>
      void response.end('{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}'),
    {},
    'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
  ],
  [
    'answers with another kind',
    (_body, response) => void response.end('{"kind":"Other","apiVersion":"admission.k8s.io/v1"}'),
    {},
    'failed to call webhook: no kind "Other" is registered for version "admission.k8s.io/v1" in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"',
  ],
  [
    'answers another request',
    (_body, response) =>
      void response.end(
        '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x","allowed":true}}',
      ),
    {},
    'received invalid webhook response: expected response.uid="UID", got "x"',
  ],
  [
    'patches',
    reviewing(() => labelled('x')),
    {},
    'received invalid webhook response: validating webhook may not return response.patch',
  ],
  [
    'has the certificate of a stranger',
    reviewing(() => ({ allowed: true })),
    { clientConfig: { caBundle: foreignCaBundle() } },
    'failed to call webhook: Post "https://127.0.0.1:PORT/?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [
    'is gone',
    () => undefined,
    { clientConfig: { url: 'https://127.0.0.1:1/' } },
    'failed to call webhook: Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
  ],
  [
    'is a service that does not exist',
    () => undefined,
    { clientConfig: { service: { namespace: 'ns', name: 'hook' } } },
    'failed to call webhook: Post "https://hook.ns.svc:443/?timeout=10s": service "hook" not found',
  ],
  [
    'knows no version of reviews',
    () => undefined,
    { admissionReviewVersions: ['v9'] },
    'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
  ],
])('a webhook that %s fails the request, or is passed over', async (_name, respond, rest, expected) => {
  const server = await serve(respond);
  const { clientConfig, ...others } = rest;
  const given = (failurePolicy: string): Obj => ({
    ...webhook(server, 'bad.example.com', { ...others, failurePolicy }),
    ...(clientConfig !== undefined && {
      clientConfig: {
        ...('caBundle' in (clientConfig as Obj) ? { url: server.url() } : {}),
        ...(clientConfig as Obj),
      },
    }),
  });
  configure('validating', 'a', given('Fail'));
  const [code, , message] = (await refused()) as [number, string, string];
  const shown = message.replaceAll(String(server.port), 'PORT').replace(/uid="[0-9a-f-]{36}"/, 'uid="UID"');
  expect([code, shown]).toEqual([500, failing + expected]);
  configure('validating', 'a', given('Ignore'));
  const { attributes } = await admitted();
  expect(attributes.annotations.get('failed-open.validating.webhook.admission.k8s.io/round_0_index_0')).toBe(
    'bad.example.com',
  );
  expect(metrics.expose()).toContain(
    'apiserver_admission_webhook_fail_open_count{name="bad.example.com",type="validating"} 1',
  );
});

test.each<[string, Obj, number, string]>([
  [
    'is no JSON',
    { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('x').toString('base64') },
    500,
    'received undecodable patch in webhook response',
  ],
  ['does not apply', patchOf({ op: 'remove', path: '/nope/x' }), 500, 'Internal error occurred: '],
  [
    'has no type',
    { allowed: true, patch: Buffer.from('[]').toString('base64') },
    500,
    'webhook returned response.patch but not response.patchType',
  ],
])('a patch that %s fails the request', async (_name, answer, code, message) => {
  const server = await serve(reviewing(() => answer));
  configure('mutating', 'a', webhook(server, 'patch.example.com'));
  const [given, , text] = (await refused()) as [number, string, string];
  expect([given, text.includes(message)]).toEqual([code, true]);
});

test('a patch of what is deleted is refused', async () => {
  const server = await serve(reviewing(() => labelled('x')));
  configure('mutating', 'a', webhook(server, 'patch.example.com'));
  expect(await refused({ operation: 'DELETE', object: undefined, oldObject: pod() })).toEqual([
    500,
    'InternalError',
    'Internal error occurred: admission webhook "patch.example.com" attempted to modify the object, which is not supported for this operation',
  ]);
});

test('dry runs reach webhooks without side effects only', async () => {
  const server = await serve(reviewing(({ request }) => ({ allowed: request['dryRun'] === true })));
  configure('validating', 'a', webhook(server, 'quiet.example.com', { sideEffects: 'NoneOnDryRun' }));
  expect(await refused({ isDryRun: true })).toEqual(['admitted']);
  configure('validating', 'a', webhook(server, 'loud.example.com', { sideEffects: 'Some' }));
  expect(await refused({ isDryRun: true })).toEqual([
    400,
    'BadRequest',
    'admission webhook "loud.example.com" does not support dry run',
  ]);
});

test('a webhook that wants it is asked again when another one changed the object after it', async () => {
  const asked: string[] = [];
  const server = await serve((body, response, request) => {
    const name = (request.url ?? '').slice(1, 6);
    asked.push(name);
    return reviewing(() => labelled(name))(body, response, request);
  });
  configure('mutating', 'a', webhook(server, 'first.example.com', { reinvocationPolicy: 'IfNeeded' }));
  configure('mutating', 'b', webhook(server, 'secon.example.com', { reinvocationPolicy: 'IfNeeded' }));
  await admitted();
  expect(asked).toEqual(['first', 'secon', 'first']);
});

test('a configuration that is deleted is no longer asked', async () => {
  const server = await serve(reviewing(() => ({ allowed: false })));
  configure('validating', 'a', webhook(server, 'strict.example.com'));
  informer.remove('validatingwebhookconfigurations', { metadata: { name: 'a' } });
  expect(await refused()).toEqual(['admitted']);
});

test('a webhook that only knows v1beta1 is spoken to in it', async () => {
  const server = await serve(
    reviewing(({ request }) => ({ ...labelled('beta'), patchType: undefined, uid: `not ${request.uid}` })),
  );
  configure(
    'mutating',
    'a',
    webhook(server, 'beta.example.com', { admissionReviewVersions: ['v1beta1', 'v1'] }),
  );
  const { object } = await admitted();
  expect(object?.metadata?.labels).toEqual({ beta: 'yes' });
});

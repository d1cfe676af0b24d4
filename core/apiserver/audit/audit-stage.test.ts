import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { forbidden, unauthorized } from '../../api/meta/index.ts';
import { userInfo } from '../server/user.ts';
import { AUTHORIZATION_VERDICT } from '../authz/authorization-stage.ts';
import { IMPERSONATOR } from '../authz/impersonation-stage.ts';
import type { Stage } from '../server/pipeline.ts';
import { fakeContext } from '../server/testing/fake-context.ts';
import { createAuditStages } from './audit-stage.ts';
import type { AuditBackend, AuditEvent } from './event.ts';
import { createPolicyEvaluator, parseAuditPolicy } from './policy.ts';
import { auditRecordOf } from './record.ts';

const setup = (rule: string, isStored: boolean | Promise<boolean> = true) => {
  const events: AuditEvent[] = [];
  const texts: string[] = [];
  const backend: AuditBackend = {
    process(taken) {
      events.push(...taken.map(({ event }) => event));
      texts.push(...taken.map(({ json }) => json));
      return isStored;
    },
    close: () => Promise.resolve(),
  };
  const policy = parseAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- ${rule}`);
  const stages = createAuditStages({
    evaluate: createPolicyEvaluator(policy),
    backend,
    metrics: new Registry(),
    clock: manualClock(),
  });
  return { events, texts, ...stages };
};

const create = { url: '/api/v1/namespaces/a/configmaps', method: 'POST', user: userInfo('alice', ['dev']) };

test('a request has an event when it comes and one when it is answered, with what was learnt meanwhile', async () => {
  const { events, stage } = setup('{level: Request, omitManagedFields: true}');
  const { context } = fakeContext(create);
  expect(await stage.run(context)).toBe('next');
  context.set(AUTHORIZATION_VERDICT, { decision: 'allow', reason: 'RBAC: allowed' });
  auditRecordOf(context)!.requestObject({ metadata: { name: 'c', managedFields: [{}] }, data: { k: 'v' } });
  context.annotate('example.com/why', 'because');
  await context.response.send(201, 'application/json', '{"kind":"ConfigMap"}');
  context.finish();
  expect(events.map(({ stage: name }) => name)).toEqual(['RequestReceived', 'ResponseComplete']);
  expect(events[1]).toMatchObject({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Request',
    verb: 'create',
    requestURI: create.url,
    user: { username: 'alice', groups: ['dev'] },
    objectRef: { resource: 'configmaps', namespace: 'a', name: 'c', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: { metadata: { name: 'c' }, data: { k: 'v' } },
    annotations: {
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason': 'RBAC: allowed',
      'example.com/why': 'because',
    },
  });
  expect(JSON.stringify(events)).not.toContain('managedFields');
});

test('an event at Metadata has no object, and names the one that was created', async () => {
  const { events, stage } = setup('{level: Metadata, omitStages: [RequestReceived]}');
  const { context } = fakeContext(create);
  await stage.run(context);
  auditRecordOf(context)!.requestObject({ metadata: { name: 'c' }, data: { k: 'the value' } });
  await context.response.send(201, 'application/json', '{"data":{"k":"the value"}}');
  context.finish();
  expect([events.length, events[0]!.objectRef!.name, JSON.stringify(events).includes('the value')]).toEqual([
    1,
    'c',
    false,
  ]);
});

test('an event at RequestResponse has the answer', async () => {
  const { events, stage } = setup('{level: RequestResponse, omitStages: [RequestReceived]}');
  const { context } = fakeContext(create);
  await stage.run(context);
  await context.response.send(200, 'application/json', '{"kind":"ConfigMap"}');
  context.finish();
  expect(events[0]!.responseObject).toEqual({ kind: 'ConfigMap' });
});

test('an integer of 64 bits keeps its digits in the request and in the answer', async () => {
  const { texts, stage } = setup('{level: RequestResponse, omitStages: [RequestReceived]}');
  const { context } = fakeContext(create);
  await stage.run(context);
  auditRecordOf(context)!.requestObject({ spec: { size: 9007199254740993n } });
  await context.response.send(201, 'application/json', '{"spec":{"size":9007199254740995}}');
  context.finish();
  expect(texts.join()).toContain('"requestObject":{"spec":{"size":9007199254740993}}');
  expect(texts.join()).toContain('"responseObject":{"spec":{"size":9007199254740995}}');
});

test('a denied request carries its Status and the verdict', async () => {
  const { events, stage } = setup('{level: Metadata, omitStages: [RequestReceived]}');
  const { context } = fakeContext(create);
  await stage.run(context);
  context.set(AUTHORIZATION_VERDICT, { decision: 'no-opinion', reason: 'nothing allows it' });
  context.failure = forbidden({ group: '', resource: 'configmaps' }, '', 'nothing allows it');
  await context.response.send(403, 'application/json', '{}');
  context.finish();
  expect(events[0]).toMatchObject({
    responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403 },
    annotations: {
      'authorization.k8s.io/decision': 'forbid',
      'authorization.k8s.io/reason': 'nothing allows it',
    },
  });
});

test('a request that lasts has an event when its answer begins', async () => {
  const { events, stage } = setup('{level: Metadata}');
  const { context } = fakeContext({ url: '/api/v1/pods?watch=1', user: userInfo('alice') });
  await stage.run(context);
  context.response.begin(200);
  await context.response.end();
  context.finish();
  expect(events.map(({ stage: name }) => name)).toEqual([
    'RequestReceived',
    'ResponseStarted',
    'ResponseComplete',
  ]);
});

test('the impersonating and the impersonated user are both recorded', async () => {
  const { events, stage } = setup('{level: Metadata, omitStages: [RequestReceived]}');
  const { context } = fakeContext({ url: '/api/v1/pods', user: userInfo('root') });
  await stage.run(context);
  context.set(IMPERSONATOR, context.user!);
  context.user = userInfo('alice');
  context.finish();
  expect(events[0]).toMatchObject({ user: { username: 'root' }, impersonatedUser: { username: 'alice' } });
});

test('a failed login is recorded with what was tried, and still fails', async () => {
  const { events, authentication } = setup('{level: Metadata}');
  const failing: Stage = {
    name: 'authentication',
    run() {
      throw unauthorized();
    },
  };
  const { context } = fakeContext({ url: '/api/v1/pods', headers: { authorization: 'Bearer nope' } });
  const stage = authentication(failing);
  await expect((async () => stage.run(context))()).rejects.toThrow('Unauthorized');
  expect(events).toMatchObject([
    {
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { message: 'Authentication failed, attempted: bearer', code: 401 },
    },
  ]);
  expect(JSON.stringify(events)).not.toContain('nope');
});

test('a request is rejected where its event cannot be stored', async () => {
  const { stage } = setup('{level: Metadata}', Promise.resolve(false));
  const { context } = fakeContext(create);
  await expect((async () => stage.run(context))()).rejects.toThrow('failed to store audit event');
});

test('a rule of level None makes no event', async () => {
  const { events, stage } = setup('{level: None}');
  const { context } = fakeContext(create);
  await stage.run(context);
  context.annotate('a', 'b');
  context.finish();
  expect(events).toEqual([]);
});

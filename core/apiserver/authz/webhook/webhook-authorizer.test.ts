import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import { Registry } from '../../../base/metrics/index.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { errorText } from '../../../api/field/field-error.ts';
import { userInfo } from '../../server/user.ts';
import { pathAttributes, resourceAttributes } from '../authorizer.ts';
import { compileMatchConditions } from './match-conditions.ts';
import { webhookAuthorizer, type WebhookAuthorizerOptions } from './webhook-authorizer.ts';
import { webhookAuthorizerMetrics } from './webhook-metrics.ts';

const ADA = userInfo('ada', ['dev'], { uid: '1', extra: { team: ['a'] } });
const LIST_PODS = resourceAttributes(ADA, {
  verb: 'list',
  apiVersion: 'v1',
  namespace: 'shop',
  resource: 'pods',
  fieldRequirements: [{ field: 'spec.nodeName', operator: '=', value: 'n1' }],
  labelRequirements: [
    { key: 'app', operator: 'in', values: ['web'] },
    { key: 'old', operator: '!', values: [] },
  ],
});

const start = (status: object | Error, changes: Partial<WebhookAuthorizerOptions> = {}) => {
  const clock = manualClock();
  const asked: object[] = [];
  const registry = new Registry();
  const authorizer = webhookAuthorizer({
    name: 'corp',
    version: 'v1',
    authorizedTtlMs: 300_000,
    unauthorizedTtlMs: 30_000,
    failurePolicy: 'NoOpinion',
    matches: () => true,
    metrics: webhookAuthorizerMetrics(registry),
    clock,
    log: silentLog,
    post(review) {
      asked.push(review);
      return status instanceof Error
        ? Promise.reject(status)
        : Promise.resolve({ status } as unknown as KubernetesObject);
    },
    ...changes,
  });
  return { authorizer, asked, clock, registry };
};

test('a webhook is asked with the whole request', async () => {
  const { authorizer, asked } = start({ allowed: true, reason: 'because' });
  expect(await authorizer.authorize(LIST_PODS)).toEqual({ decision: 'allow', reason: 'because' });
  expect(asked).toEqual([
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'shop',
          verb: 'list',
          version: 'v1',
          resource: 'pods',
          fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
          labelSelector: {
            requirements: [
              { key: 'app', operator: 'In', values: ['web'] },
              { key: 'old', operator: 'DoesNotExist' },
            ],
          },
        },
        user: 'ada',
        groups: ['dev'],
        extra: { team: ['a'] },
        uid: '1',
      },
      status: { allowed: false },
    },
  ]);
});

test('the older version of a review calls groups group', async () => {
  const { authorizer, asked } = start({ allowed: true }, { version: 'v1beta1' });
  await authorizer.authorize(pathAttributes(ADA, 'get', '/metrics'));
  expect(asked).toMatchObject([
    {
      apiVersion: 'authorization.k8s.io/v1beta1',
      spec: { nonResourceAttributes: { path: '/metrics', verb: 'get' }, group: ['dev'] },
    },
  ]);
  expect(JSON.stringify(asked)).not.toContain('groups');
});

test.each([
  [{ allowed: true }, 'allow'],
  [{ allowed: false, denied: true }, 'deny'],
  [{ allowed: true, denied: true }, 'deny'],
  [{ allowed: false }, 'no-opinion'],
])('%j means %s', async (status, decision) => {
  expect((await start(status).authorizer.authorize(LIST_PODS)).decision).toBe(decision);
});

test('answers are cached, a no for a shorter time than a yes', async () => {
  for (const [status, ttlMs] of [
    [{ allowed: true }, 300_000],
    [{ allowed: false }, 30_000],
  ] as const) {
    const { authorizer, asked, clock } = start(status);
    await authorizer.authorize(LIST_PODS);
    clock.advance(ttlMs - 1);
    await authorizer.authorize(LIST_PODS);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await authorizer.authorize(LIST_PODS);
    expect(asked).toHaveLength(2);
  }
});

test('a question of unusual length is never cached', async () => {
  const { authorizer, asked } = start({ allowed: true });
  const long = { ...LIST_PODS, name: 'x'.repeat(20_000) };
  await authorizer.authorize(long);
  await authorizer.authorize(long);
  expect(asked).toHaveLength(2);
});

test.each([
  ['NoOpinion', 'no-opinion', 1],
  ['Deny', 'deny', 0],
] as const)('a webhook that cannot be asked means %s', async (failurePolicy, decision, openings) => {
  const { authorizer, registry } = start(new Error('connection refused'), { failurePolicy });
  expect((await authorizer.authorize(LIST_PODS)).decision).toBe(decision);
  const text = registry.expose();
  expect(text).toContain('apiserver_authorization_webhook_evaluations_total{name="corp",result="error"} 1');
  expect(text.includes('fail_open_total{')).toBe(openings === 1);
});

test('an answer without a status is a failure', async () => {
  const { authorizer } = start(
    {},
    {
      failurePolicy: 'Deny',
      post: () => Promise.resolve({ kind: 'Status' } as unknown as KubernetesObject),
    },
  );
  expect((await authorizer.authorize(LIST_PODS)).decision).toBe('deny');
});

const compile = async (...expressions: string[]) => compileMatchConditions(expressions, 'authorizers[0]');

test('a webhook is asked only about requests that every condition matches', async () => {
  const { matches, errors } = await compile(
    'has(request.resourceAttributes)',
    "request.resourceAttributes.namespace == 'shop' && 'dev' in request.groups",
  );
  expect(errors).toEqual([]);
  const { authorizer, asked } = start({ allowed: true }, { matches });
  expect((await authorizer.authorize(LIST_PODS)).decision).toBe('allow');
  expect((await authorizer.authorize(pathAttributes(ADA, 'get', '/metrics'))).decision).toBe('no-opinion');
  expect(asked).toHaveLength(1);
});

test('a condition that cannot be evaluated leaves the decision to the failure policy', async () => {
  const { matches } = await compile("request.resourceAttributes.namespace == 'shop'");
  const { authorizer, asked } = start({ allowed: true }, { matches, failurePolicy: 'Deny' });
  expect((await authorizer.authorize(pathAttributes(ADA, 'get', '/metrics'))).decision).toBe('deny');
  expect(asked).toHaveLength(0);
});

test.each([
  [' ', 'authorizers[0].matchConditions[0].expression: Required value'],
  [
    'request.user',
    'authorizers[0].matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
  ],
  ['request.nope == 1', 'undefined field'],
])('the condition %j is rejected', async (expression, message) => {
  const { errors } = await compile(expression);
  expect(errors.map(errorText).join()).toContain(message);
});

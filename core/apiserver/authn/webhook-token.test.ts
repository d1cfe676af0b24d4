import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { webhookTokens } from './webhook-token.ts';

const start = (status: object | Error) => {
  const clock = manualClock();
  const asked: object[] = [];
  const tokens = webhookTokens({
    version: 'v1',
    cacheTtlMs: 120_000,
    audiences: ['api'],
    clock,
    post(review) {
      asked.push(review);
      return status instanceof Error
        ? Promise.reject(status)
        : Promise.resolve({ status } as unknown as KubernetesObject);
    },
  });
  return { tokens, asked, clock };
};

const ADA = { username: 'ada', uid: '1', groups: ['dev'], extra: { team: ['a'] } };

test('a token that the webhook knows is of the user it names', async () => {
  const { tokens, asked } = start({ authenticated: true, user: ADA });
  expect(await tokens('abc', undefined)).toEqual({
    user: { name: 'ada', uid: '1', groups: ['dev'], extra: { team: ['a'] } },
    audiences: ['api'],
  });
  expect(asked).toMatchObject([
    {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      spec: { token: 'abc', audiences: ['api'] },
    },
  ]);
});

test('a token for other audiences is unknown here', async () => {
  const { tokens } = start({ authenticated: true, user: ADA, audiences: ['other'] });
  expect(await tokens('abc', undefined)).toBeUndefined();
});

test('answers are cached by token and audiences', async () => {
  const { tokens, asked, clock } = start({ authenticated: true, user: ADA });
  await tokens('abc', undefined);
  await tokens('abc', undefined);
  expect(asked).toHaveLength(1);
  await tokens('abc', ['other']);
  clock.advance(120_000);
  await tokens('abc', undefined);
  expect(asked).toHaveLength(3);
});

test.each<[string, object | Error, string]>([
  ['an error of the webhook', { authenticated: false, error: 'expired' }, 'expired'],
  ['a webhook that is down', new Error('connection refused'), 'connection refused'],
  ['a user without a name', { authenticated: true, user: {} }, 'empty user name'],
])('%s fails the token', async (_what, status, message) => {
  await expect(start(status).tokens('abc', undefined)).rejects.toThrow(message);
});

test('a token that the webhook does not know is left to others', async () => {
  expect(await start({ authenticated: false }).tokens('abc', undefined)).toBeUndefined();
});

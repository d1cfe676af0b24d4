import { expect, test } from 'vitest';
import { SERVICE_ACCOUNT } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { serviceAccountTokens } from './service-account-tokens.ts';

const signal = new AbortController().signal;

test('a missing account is created, and its token is requested once', async () => {
  const api = new FakeApi();
  const tokens = serviceAccountTokens(api.client(), 'deployment-controller', api.clock);
  const [first, second] = await Promise.all([tokens.token(signal), tokens.token(signal)]);
  expect(first).not.toBe('');
  expect(second).toBe(first);
  expect(api.list(SERVICE_ACCOUNT).map(({ metadata }) => metadata.name)).toEqual(['deployment-controller']);
});

test('a token is asked for again before it ends, and when it was refused', async () => {
  const api = new FakeApi();
  const tokens = serviceAccountTokens(api.client(), 'job-controller', api.clock);
  const asked = (): number => api.writes().filter((write) => write.includes('token')).length;
  await tokens.token(signal);
  await tokens.token(signal);
  expect(asked()).toBe(2); // the first try found no account
  tokens.rejected();
  await tokens.token(signal);
  expect(asked()).toBe(3);
  api.clock.advance(50 * 60_000);
  await tokens.token(signal);
  expect(asked()).toBe(4);
});

import { createHmac } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { formatTime } from '../../api/meta/index.ts';
import { CONFIG_MAP, SECRET, type Secret } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { bootstrapSigner, CLUSTER_INFO } from './bootstrap-signer.ts';
import { tokenCleaner } from './token-cleaner.ts';

const HOUR_MS = 3_600_000;
const encoded = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

const token = (id: string, more: Readonly<Record<string, string>> = {}): Secret => ({
  metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: encoded({
    'token-id': id,
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
    ...more,
  }),
});

const { name, namespace } = CLUSTER_INFO;
const fixture = async (definition: typeof bootstrapSigner, ...secrets: Secret[]) => {
  const api = new FakeApi();
  api.seed(CONFIG_MAP, {
    metadata: { name, namespace },
    data: { kubeconfig: 'text', 'jws-kubeconfig-gone00': 'x' },
  });
  const soon = encoded({ expiration: formatTime(api.clock.nowMs() + HOUR_MS) });
  api.seed(SECRET, ...secrets, { ...token('soon00'), data: { ...token('soon00').data, ...soon } });
  const running = await startOnFake(api, definition);
  onTestFinished(() => running.stop());
  await api.settle();
  return { api, keys: () => Object.keys(api.get(CONFIG_MAP, name, namespace).data ?? {}).sort() };
};

test('cluster-info is signed with every token that may sign, and with no other', async () => {
  const { api, keys } = await fixture(
    bootstrapSigner,
    token('good00'),
    token('quiet0', { 'usage-bootstrap-signing': 'false' }),
    token('short0', { 'token-secret': 'too-short' }),
    token('later0', { expiration: '2020-01-01T00:00:00Z' }),
  );
  expect(keys()).toEqual(['jws-kubeconfig-good00', 'jws-kubeconfig-soon00', 'kubeconfig']);
  const [header = '', payload, signature] = (
    api.get(CONFIG_MAP, name, namespace).data?.['jws-kubeconfig-good00'] ?? ''
  ).split('.');
  expect([Buffer.from(header, 'base64url').toString(), payload]).toEqual([
    '{"alg":"HS256","kid":"good00"}',
    '',
  ]);
  const content = Buffer.from('text').toString('base64url');
  const expected = createHmac('sha256', '0123456789abcdef')
    .update(`${header}.${content}`)
    .digest('base64url');
  expect(signature).toBe(expected);
  api.clock.advance(2 * HOUR_MS);
  await api.settle();
  expect(keys()).toEqual(['jws-kubeconfig-good00', 'kubeconfig']);
});

test('a token is deleted when it expires, and one without an end stays', async () => {
  const { api } = await fixture(tokenCleaner, token('stays0'), token('broken', { expiration: 'soon' }));
  const names = () => api.list(SECRET).map(({ metadata }) => metadata.name);
  expect(names()).toEqual(['bootstrap-token-soon00', 'bootstrap-token-stays0']);
  api.clock.advance(2 * HOUR_MS);
  await api.settle();
  expect(names()).toEqual(['bootstrap-token-stays0']);
});

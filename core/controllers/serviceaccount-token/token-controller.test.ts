import { createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SECRET, SERVICE_ACCOUNT } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { generateKey, privateKeyPem } from '../../pki/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { tokenController } from './token-controller.ts';

const secret = (name: string, account: string) => ({
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
  type: 'kubernetes.io/service-account-token',
});

const fixture = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokens-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const key = generateKey('ECDSA-P256');
  const file = join(folder, 'sa.key');
  await writeFile(file, privateKeyPem(key));
  const api = new FakeApi();
  const [account] = api.seed(SERVICE_ACCOUNT, {
    metadata: { name: 'robot' },
    secrets: [{ name: 'robot-token' }, { name: 'other' }],
  });
  api.seed(SECRET, secret('robot-token', 'robot'), secret('lost', 'nobody'));
  const running = await startOnFake(api, tokenController, { 'service-account-private-key-file': file });
  onTestFinished(() => running.stop());
  await expect.poll(() => api.get(SECRET, 'robot-token').data?.['token']).toBeDefined();
  await expect.poll(() => api.find(SECRET, 'lost')).toBeUndefined();
  return { api, key, account: account! };
};

test('a secret that asks for it gets a token that the key signed; one of no account is deleted', async () => {
  const { api, key, account } = await fixture();
  const { data = {}, metadata } = api.get(SECRET, 'robot-token');
  const text = (value: string | undefined) => Buffer.from(value ?? '', 'base64').toString();
  const [head, body, signature] = text(data['token']).split('.') as [string, string, string];
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    { key: createPublicKey(key), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(isSigned).toBe(true);
  expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toEqual({
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:default:robot',
    'kubernetes.io/serviceaccount/namespace': 'default',
    'kubernetes.io/serviceaccount/secret.name': 'robot-token',
    'kubernetes.io/serviceaccount/service-account.name': 'robot',
    'kubernetes.io/serviceaccount/service-account.uid': account.metadata.uid,
  });
  expect(text(data['namespace'])).toBe('default');
  expect(metadata.annotations?.['kubernetes.io/service-account.uid']).toBe(account.metadata.uid);
});

test('tokens go with their account', async () => {
  const { api } = await fixture();
  api.remove(SERVICE_ACCOUNT, 'robot');
  await api.settle();
  expect(api.list(SECRET)).toEqual([]);
});

test('an account forgets a token that was deleted', async () => {
  const { api } = await fixture();
  api.remove(SECRET, 'robot-token');
  await api.settle();
  expect(api.get(SERVICE_ACCOUNT, 'robot').secrets).toEqual([{ name: 'other' }]);
});

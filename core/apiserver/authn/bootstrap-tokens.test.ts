import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { bootstrapTokenAuthenticator } from './bootstrap-tokens.ts';

const clock = manualClock();
const TOKEN = 'abcdef.0123456789abcdef';
const GOOD = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};

const secret = (data: Readonly<Record<string, string>>, changes: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
  ...changes,
});

const ask = (found: KubernetesObject | undefined, token = TOKEN) =>
  bootstrapTokenAuthenticator(
    (name) => Promise.resolve(name === 'bootstrap-token-abcdef' ? found : undefined),
    clock,
  )(token);

test('a token of a secret is a bootstrapper with its extra groups', async () => {
  const found = secret({
    ...GOOD,
    expiration: new Date(clock.nowMs() + 1000).toISOString(),
    'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
  });
  expect(await ask(found)).toEqual({
    name: 'system:bootstrap:abcdef',
    uid: '',
    groups: ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token'],
    extra: {},
  });
});

test.each<[string, KubernetesObject | undefined, string?]>([
  ['no secret', undefined],
  ['a text of another form', secret(GOOD), 'ABCDEF.0123456789abcdef'],
  ['another secret part', secret({ ...GOOD, 'token-secret': '0123456789abcdeX' })],
  ['another id', secret({ ...GOOD, 'token-id': 'abcdeg' })],
  ['another type', secret(GOOD, { type: 'Opaque' })],
  ['an expired one', secret({ ...GOOD, expiration: '2020-01-01T00:00:00Z' })],
  ['an expiration that is no time', secret({ ...GOOD, expiration: 'soon' })],
  ['one that is not for authentication', secret({ ...GOOD, 'usage-bootstrap-authentication': 'false' })],
  ['a group beyond bootstrapping', secret({ ...GOOD, 'auth-extra-groups': 'system:masters' })],
  ['one that is being deleted', secret(GOOD, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
])('%s is not accepted', async (_what, found, token) => {
  expect(await ask(found, token)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { NAMESPACE, NETWORK_POLICY, POD } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { checkReach } from './check-reach.ts';

const seeded = () => {
  const api = new FakeApi();
  api.seed(NAMESPACE, { metadata: { name: 'default' } });
  for (const [name, ip] of [
    ['web', '10.1.0.1'],
    ['client', '10.1.0.2'],
  ] as const)
    api.seed(POD, {
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec: { containers: [{ name: 'app', image: 'x' }] },
      status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], hostIP: '10.0.0.1' },
    });
  api.seed(NETWORK_POLICY, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      podSelector: { matchLabels: { app: 'web' } },
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'client' } } }], ports: [{ port: 80 }] }],
    },
  });
  return api.client();
};

test('pods by name and by address, and addresses outside, get a verdict that names the policy', async () => {
  const client = seeded();
  const ask = async (from: string, to: string, port = 80) =>
    (await checkReach(client, { from, to, port, protocol: 'TCP' })).verdict;
  expect([
    (await ask('client', 'default/web')).ingress.allowedBy,
    (await ask('10.1.0.2', 'web')).isAllowed,
    (await ask('client', 'web', 81)).isAllowed,
    (await ask('192.0.2.1', 'web')).ingress.isolating,
    (await ask('web', 'client')).isAllowed,
  ]).toEqual([{ policy: 'default/web', rule: 0 }, true, false, ['default/web'], true]);
});

test('a pod that is not there is one clear line', async () => {
  await expect(checkReach(seeded(), { from: 'nope', to: 'web', port: 80, protocol: 'TCP' })).rejects.toThrow(
    'pod "nope" not found in namespace default',
  );
});

import { expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { readerOf } from '../admission/testing/fixtures.ts';
import { createServiceResolver } from './service-resolver.ts';

const service = (spec: Record<string, unknown>): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'ns', name: 'hook' },
  spec: { ports: [{ name: 'https', port: 443 }], ...spec },
});
const slice = (endpoints: unknown[], port = 8443): KubernetesObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'ns', name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
  addressType: 'IPv4',
  ports: [{ name: 'https', port }],
  endpoints,
});

const resolved = async (
  objects: readonly KubernetesObject[],
  { port = 443, advertiseAddress = '127.20.0.1' } = {},
): Promise<string> => {
  const resolve = createServiceResolver({
    reader: readerOf(objects),
    random: seededRandom(1),
    advertiseAddress,
  });
  return resolve({ namespace: 'ns', name: 'hook', port }).then(
    (found) => `${found.host}:${found.port}`,
    (error: Error) => error.message,
  );
};

test('a ready endpoint of the named port is found', async () => {
  const endpoints = [
    { addresses: ['127.21.0.5'], conditions: { ready: false } },
    { addresses: ['127.21.0.6'], conditions: { ready: true } },
  ];
  expect(await resolved([service({}), slice(endpoints)])).toBe('127.21.0.6:8443');
});

test.each([
  ['no service', [], {}, 'service "hook" not found'],
  ['another port', [service({})], { port: 80 }, 'no service port 80 found for service "hook"'],
  ['an external name', [service({ type: 'ExternalName' })], {}, 'unsupported service type "ExternalName"'],
  ['no endpoints', [service({}), slice([])], {}, 'no endpoints available for service "hook"'],
])('%s has no endpoint', async (_name, objects, options, expected) => {
  expect(await resolved(objects, options)).toBe(expected);
});

test('an endpoint on a port of the control plane, or on loopback from a cluster elsewhere, is not used', async () => {
  const none = 'no endpoints available for service "hook"';
  const own = [{ addresses: ['127.20.0.1'] }];
  for (const port of [6443, 2379, 10250]) expect(await resolved([service({}), slice(own, port)])).toBe(none);
  expect(await resolved([service({}), slice(own)], { advertiseAddress: '192.168.1.1' })).toBe(none);
  expect(await resolved([service({}), slice([{ addresses: ['169.254.169.254'] }])])).toBe(none);
});

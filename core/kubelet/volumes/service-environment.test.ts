import { expect, test } from 'vitest';
import type { V1Service } from '../../api/schema/index.ts';
import { pod } from '../testing/world.ts';
import { serviceVariables } from './service-environment.ts';

const service = (namespace: string, name: string, spec: V1Service['spec']): V1Service => ({
  metadata: { namespace, name },
  ...(spec && { spec }),
});

const services = [
  service('default', 'kubernetes', { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443 }] }),
  service('default', 'other', { clusterIP: '10.0.0.9', ports: [{ port: 1 }] }),
  service('shop', 'redis-cache', {
    clusterIP: 'fd00::7',
    ports: [{ port: 6379 }, { name: 'gossip-udp', port: 7946, protocol: 'UDP' }],
  }),
  service('shop', 'headless', { clusterIP: 'None', ports: [{ port: 80 }] }),
  service('shop', 'outside', { type: 'ExternalName', externalName: 'example.com' }),
];

const source = {
  services: (namespace: string) =>
    Promise.resolve(services.filter(({ metadata }) => metadata?.namespace === namespace)),
};

const API_SERVER = {
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: 'tcp://10.0.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.0.0.1:443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.0.0.1',
};

test('a pod gets the variables of every Service of its namespace and of the API server', async () => {
  const values = await serviceVariables(pod({}, { namespace: 'shop' }), source);
  expect(Object.fromEntries(values)).toEqual({
    ...API_SERVER,
    REDIS_CACHE_SERVICE_HOST: 'fd00::7',
    REDIS_CACHE_SERVICE_PORT: '6379',
    REDIS_CACHE_SERVICE_PORT_GOSSIP_UDP: '7946',
    REDIS_CACHE_PORT: 'tcp://[fd00::7]:6379',
    REDIS_CACHE_PORT_6379_TCP: 'tcp://[fd00::7]:6379',
    REDIS_CACHE_PORT_6379_TCP_PROTO: 'tcp',
    REDIS_CACHE_PORT_6379_TCP_PORT: '6379',
    REDIS_CACHE_PORT_6379_TCP_ADDR: 'fd00::7',
    REDIS_CACHE_PORT_7946_UDP: 'udp://[fd00::7]:7946',
    REDIS_CACHE_PORT_7946_UDP_PROTO: 'udp',
    REDIS_CACHE_PORT_7946_UDP_PORT: '7946',
    REDIS_CACHE_PORT_7946_UDP_ADDR: 'fd00::7',
  });
});

test('without service links only the variables of the API server are set', async () => {
  const values = await serviceVariables(pod({ enableServiceLinks: false }, { namespace: 'shop' }), source);
  expect(Object.fromEntries(values)).toEqual(API_SERVER);
});

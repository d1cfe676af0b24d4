import { expect, test } from 'vitest';
import { ReasonError } from '../../base/errors.ts';
import { seededRandom } from '../../base/random.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import { remoteOf } from './api-service.ts';
import { checkAvailability } from './availability.ts';
import type { RemoteClient } from './remote-client.ts';
import { apiService, extService, extSlice, readerOf } from './testing/fixtures.ts';

const remote = remoteOf(apiService())!;

const check = (objects: Parameters<typeof readerOf>[0], answer: () => Promise<number>) => {
  const reader = readerOf(objects);
  const resolve = createServiceResolver({ reader, random: seededRandom(1), advertiseAddress: '127.9.0.1' });
  const client: RemoteClient = {
    resolve: ({ service }) => resolve(service),
    backend: () => undefined,
    get: async () => ({ code: await answer(), headers: {}, body: Buffer.alloc(0) }),
  };
  return checkAvailability(reader, client, remote);
};
const ok = (): Promise<number> => Promise.resolve(200);
const services = [extService()];

test.each([
  ['the Service is missing', {}, 'ServiceNotFound', 'service/api in "ext" is not present'],
  [
    'the Service has another port',
    { services: [extService({ ports: [{ port: 8443 }] })] },
    'ServicePortError',
    'service/api in "ext" is not listening on port 443',
  ],
  [
    'nothing is behind the Service',
    { services },
    'EndpointsNotFound',
    'cannot find endpointslices for service/api in "ext"',
  ],
  [
    'no endpoint is ready',
    {
      services,
      slices: [
        extSlice('127.9.0.5', 1, { endpoints: [{ addresses: ['127.9.0.5'], conditions: { ready: false } }] }),
      ],
    },
    'MissingEndpoints',
    'endpointslices for service/api in "ext" have no addresses with port name "https"',
  ],
  [
    'the endpoint is where this server must not be led to',
    { services, slices: [extSlice('127.9.0.1', 2379)] },
    'FailedDiscoveryCheck',
    'no endpoints available for service "api"',
  ],
] as const)('when %s', async (_when, objects, reason, message) => {
  expect(await check(objects, ok)).toEqual({ status: 'False', reason, message });
});

const slices = [extSlice('127.9.0.5', 8443)];
const URL = 'https://127.9.0.5:8443/apis/wardle.example.com/v1alpha1';

test('a server that answers its discovery document is available', async () => {
  expect(await check({ services, slices }, ok)).toEqual({
    status: 'True',
    reason: 'Passed',
    message: 'all checks passed',
  });
});

test('a server that answers with an error is named with its code', async () => {
  expect(await check({ services, slices }, () => Promise.resolve(403))).toEqual({
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from ${URL}: bad status from ${URL}: 403`,
  });
});

test('one answer of five attempts is enough', async () => {
  let asked = 0;
  const rarely = (): Promise<number> => {
    asked += 1;
    return asked === 3 ? ok() : Promise.reject(new ReasonError('Unreachable', 'no'));
  };
  expect(await check({ services, slices }, rarely)).toMatchObject({ reason: 'Passed' });
});

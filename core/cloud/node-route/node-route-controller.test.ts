import { expect, test } from 'vitest';
import { NODE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../testing/start-on-fake.ts';
import { nodeRouteController } from './node-route-controller.ts';

const ON = { 'allocate-node-cidrs': true, 'cluster-cidr': '127.21.0.0/16' };
const networkOf = (api: FakeApi, name: string) =>
  api.get(NODE, name).status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');

test('a node has a network when there is a route to its pods', async () => {
  const api = new FakeApi();
  api.seed(NODE, {
    metadata: { name: 'a' },
    spec: { podCIDR: '127.21.0.0/24', podCIDRs: ['127.21.0.0/24'] },
  });
  api.seed(NODE, { metadata: { name: 'b' } });
  const running = await startOnFake(api, [nodeRouteController], ON);
  expect([networkOf(api, 'a'), networkOf(api, 'b')]).toMatchObject([
    { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' },
    { status: 'True', reason: 'NoRouteCreated', message: 'RouteController failed to create a route' },
  ]);
  api.edit(NODE, 'b', (node) => {
    node.spec = { podCIDR: '127.21.1.0/24', podCIDRs: ['127.21.1.0/24'] };
  });
  await api.advance(10_000);
  expect(networkOf(api, 'b')).toMatchObject({ status: 'False' });
  api.forgetRequests();
  await api.advance(30_000, 10_000);
  expect(api.writes()).toEqual([]);
  await running.stop();
});

test('without node ranges there are no routes to make', async () => {
  const api = new FakeApi();
  api.seed(NODE, { metadata: { name: 'a' } });
  const running = await startOnFake(api, [nodeRouteController]);
  expect(api.writes()).toEqual([]);
  await running.stop();
});

import { expect, test } from 'vitest';
import { parseCidr } from '../../api/validation/ip.ts';
import { internalError } from '../../api/meta/index.ts';
import { NODE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { CidrSet } from './cidr-set.ts';
import { nodeIpamController } from './node-ipam-controller.ts';

const node = (name: string, podCIDR?: string) => ({
  metadata: { name },
  spec: podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] },
});
const settings = { 'allocate-node-cidrs': true, 'cluster-cidr': '10.244.0.0/22', 'node-cidr-mask-size': 24 };
const view = (api: FakeApi) =>
  Object.fromEntries(api.list(NODE).map(({ metadata, spec }) => [metadata.name, spec?.podCIDRs?.join()]));

test('parts are given in turn, and one that was given back comes last', () => {
  const set = new CidrSet(parseCidr('10.0.0.0/23')!, 24);
  expect([set.allocate(), set.allocate(), set.allocate()]).toEqual(['10.0.0.0/24', '10.0.1.0/24', undefined]);
  set.release('10.0.0.0/24');
  expect(set.allocate()).toBe('10.0.0.0/24');
});

test('a part of IPv6 is written as such, and what overlaps is not given', () => {
  const set = new CidrSet(parseCidr('fd00::/56')!, 64);
  set.occupy('fd00::/63');
  expect([set.allocate(), set.freeCount]).toEqual(['fd00:0:0:2::/64', 253]);
});

test('a mask that does not divide the range is refused', () => {
  expect(() => new CidrSet(parseCidr('10.0.0.0/24')!, 16)).toThrow('--node-cidr-mask-size');
});

test('nodes get what no node and no service has', async () => {
  const api = new FakeApi();
  api.seed(NODE, node('a'), node('b', '10.244.0.0/24'));
  const running = await startOnFake(api, nodeIpamController, {
    ...settings,
    'service-cluster-ip-range': '10.244.1.0/25',
  });
  api.seed(NODE, node('c'));
  await api.settle();
  expect(view(api)).toEqual({ a: '10.244.2.0/24', b: '10.244.0.0/24', c: '10.244.3.0/24' });
  await running.stop();
});

test('without a free part a node waits until another goes', async () => {
  const api = new FakeApi();
  api.seed(NODE, node('a'), node('b'));
  const running = await startOnFake(api, nodeIpamController, {
    ...settings,
    'cluster-cidr': '10.244.0.0/24',
  });
  expect([view(api)['b'], running.events]).toEqual([
    undefined,
    ['Normal CIDRNotAvailable b: Node b status is now: CIDRNotAvailable'],
  ]);
  api.remove(NODE, 'a');
  await api.advance(1_000, 100);
  expect(view(api)).toEqual({ b: '10.244.0.0/24' });
  await running.stop();
});

test('a failed write is tried again with the same part', async () => {
  const api = new FakeApi();
  api.seed(NODE, node('a'));
  api.failNext({ verb: 'patch', plural: 'nodes' }, internalError('x'));
  const running = await startOnFake(api, nodeIpamController, settings);
  await api.advance(1_000, 100);
  expect(view(api)).toEqual({ a: '10.244.0.0/24' });
  await running.stop();
});

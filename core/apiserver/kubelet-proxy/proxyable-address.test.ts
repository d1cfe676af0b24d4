import { expect, test } from 'vitest';
import { addressPolicy } from './proxyable-address.ts';

const node = {
  metadata: { name: 'n1' },
  spec: { podCIDR: '127.17.1.0/24', podCIDRs: ['127.17.1.0/24'] },
  status: { addresses: [{ type: 'InternalIP', address: '127.16.0.4' }] },
};
const NEVER = [
  '',
  'localhost',
  '0.0.0.0',
  '::',
  '::1',
  '127.0.0.1',
  '169.254.169.254',
  '224.0.0.1',
  '255.255.255.255',
  'fe80::1',
  'ff02::1',
  '::ffff:127.0.0.1',
];

test('a cluster on real addresses reaches global unicast addresses alone', () => {
  const { isNodeAddress, isPodAddress } = addressPolicy('192.0.2.1');
  expect(NEVER.concat('127.17.1.5').filter((one) => isNodeAddress(one) || isPodAddress(one, node))).toEqual(
    [],
  );
  expect([isNodeAddress('10.0.0.1'), isPodAddress('2001:db8::1', undefined)]).toEqual([true, true]);
});

test('a cluster on loopback reaches its own hosts and ranges there, and nothing else of it', () => {
  const { isNodeAddress, isPodAddress } = addressPolicy('127.16.0.1');
  expect(NEVER.filter((one) => isNodeAddress(one) || isPodAddress(one, node))).toEqual([]);
  expect({
    host: isNodeAddress('127.16.0.4'),
    otherCluster: isNodeAddress('127.18.0.4'),
    pod: isPodAddress('127.17.1.5', node),
    podOfOtherNode: isPodAddress('127.17.2.5', node),
    podOfNoNode: isPodAddress('127.17.1.5', undefined),
    hostNetwork: isPodAddress('127.16.0.4', node),
    controlPlane: isPodAddress('127.16.0.1', node),
  }).toEqual({
    host: true,
    otherCluster: false,
    pod: true,
    podOfOtherNode: false,
    podOfNoNode: false,
    hostNetwork: true,
    controlPlane: false,
  });
});

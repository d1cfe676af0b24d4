import { expect, test } from 'vitest';
import {
  hostAddress,
  inIpv4Range,
  LOOPBACK,
  nodeBindRules,
  parseIpv4Range,
  whyNotBind,
  type BindRules,
} from './bind-rules.ts';

const rules: BindRules = {
  ranges: [parseIpv4Range('127.20.8.0/21')!, parseIpv4Range('127.20.16.1')!],
  componentAt: ({ address, port }) => (address === '127.20.16.1' && port === 10_250 ? 'kubelet' : undefined),
};

test.each<[string, number, string | undefined]>([
  ['127.20.8.1', 6443, undefined],
  ['127.20.15.255', 80, undefined],
  ['127.20.16.1', 8080, undefined],
  ['127.20.16.1', 10_250, '127.20.16.1:10250 is reserved for kubelet'],
  ['127.20.16.2', 80, 'address 127.20.16.2 is not allowed; allowed: 127.20.8.0/21, 127.20.16.1'],
  ['127.20.0.1', 6443, 'address 127.20.0.1 is not allowed; allowed: 127.20.8.0/21, 127.20.16.1'],
  ['127.0.0.1', 80, 'address 127.0.0.1 is not allowed; allowed: 127.20.8.0/21, 127.20.16.1'],
  ['192.168.0.1', 80, 'address 192.168.0.1 is not allowed; allowed: 127.20.8.0/21, 127.20.16.1'],
  ['0.0.0.0', 80, '0.0.0.0 stands for every address of the machine'],
  ['127.20.8.01', 80, '"127.20.8.01" is not an IPv4 address'],
  ['::', 80, '"::" is not an IPv4 address'],
  ['', 80, '"" is not an IPv4 address'],
  ['127.20.8.1', 0, 'port 0 is not between 1 and 65535'],
  ['127.20.8.1', 70_000, 'port 70000 is not between 1 and 65535'],
])('%s:%i is judged', (address, port, why) => {
  expect(whyNotBind({ address, port }, rules)).toBe(why);
});

test('all addresses of the machine are refused even where a range contains them', () => {
  const all: BindRules = { ranges: [parseIpv4Range('0.0.0.0/0')!], componentAt: () => undefined };
  expect(whyNotBind({ address: '0.0.0.0', port: 80 }, all)).toContain('every address');
  expect(whyNotBind({ address: '192.168.0.1', port: 80 }, all)).toBeUndefined();
});

test('a node gives pods its own address, without the ports of the components that its role has', () => {
  const may = (isControlPlane: boolean, port: number, hostIP?: string): boolean =>
    whyNotBind(
      { address: hostAddress(hostIP, '127.20.0.1'), port },
      nodeBindRules('127.20.0.1', isControlPlane),
    ) === undefined;
  expect({
    wildcard: may(true, 8080, '0.0.0.0'),
    unset: may(true, 8080),
    otherNode: may(true, 8080, '127.20.0.2'),
    machine: may(true, 8080, '127.0.0.1'),
    apiServer: may(true, 6443),
    etcd: may(true, 2379),
    kubelet: may(true, 10_250),
    etcdOnWorker: may(false, 2379),
    kubeletOnWorker: may(false, 10_250),
  }).toEqual({
    wildcard: true,
    unset: true,
    otherNode: false,
    machine: false,
    apiServer: false,
    etcd: false,
    kubelet: false,
    etcdOnWorker: true,
    kubeletOnWorker: false,
  });
});

test.each(['', '127.0.0.0/33', '127.0.0.0/8/9', '127.0.0/8', '127.0.0.256', '::1/128', '127.0.0.0/-1', 'x'])(
  '%j is no range',
  (text) => {
    expect(parseIpv4Range(text)).toBeUndefined();
  },
);

test('a range begins at its network, whatever address it was written with', () => {
  expect(parseIpv4Range('127.20.9.7/21')).toMatchObject(
    (({ first, last }) => ({ first, last }))(parseIpv4Range('127.20.8.0/21')!),
  );
  expect([inIpv4Range(LOOPBACK, '127.255.255.255'), inIpv4Range(LOOPBACK, '128.0.0.1')]).toEqual([
    true,
    false,
  ]);
});

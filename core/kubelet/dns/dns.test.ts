import { expect, test } from 'vitest';
import type { V1PodSpec } from '../../api/schema/index.ts';
import { pod } from '../testing/world.ts';
import { hostsFile } from './hosts-file.ts';
import { podDns, resolvConf } from './pod-dns.ts';

const CLUSTER = { servers: ['10.3.0.10'], domain: 'cluster.local' };
const SEARCH = 'search default.svc.cluster.local svc.cluster.local cluster.local\n';

test.each<[string, Partial<V1PodSpec>, string]>([
  ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, `${SEARCH}nameserver 10.3.0.10\noptions ndots:5\n`],
  ['no policy', {}, `${SEARCH}nameserver 10.3.0.10\noptions ndots:5\n`],
  [
    'ClusterFirst in the network of the host',
    { dnsPolicy: 'ClusterFirst', hostNetwork: true },
    'search .\nnameserver 127.0.0.1\n',
  ],
  [
    'ClusterFirstWithHostNet',
    { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true },
    `${SEARCH}nameserver 10.3.0.10\noptions ndots:5\n`,
  ],
  ['Default', { dnsPolicy: 'Default' }, 'search .\nnameserver 127.0.0.1\n'],
  [
    'None',
    {
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['192.0.2.1'], searches: ['lan'], options: [{ name: 'edns0' }] },
    },
    'search lan\nnameserver 192.0.2.1\noptions edns0\n',
  ],
  [
    'dnsConfig beside a policy',
    {
      dnsConfig: {
        nameservers: ['192.0.2.1', '10.3.0.10'],
        searches: ['lan', 'cluster.local'],
        options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
      },
    },
    'search default.svc.cluster.local svc.cluster.local cluster.local lan\nnameserver 10.3.0.10\nnameserver 192.0.2.1\noptions ndots:2 edns0\n',
  ],
])('%s', (_, spec, text) => {
  const { dns, warnings } = podDns(pod(spec), CLUSTER);
  expect([resolvConf(dns), warnings]).toEqual([text, []]);
});

test('values beyond the limits are omitted with an event', () => {
  const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
  const searches = [...Array.from({ length: 31 }, (_, index) => `d${index}.lan`), 'a'.repeat(254)];
  const { dns, warnings } = podDns(pod({ dnsConfig: { nameservers, searches } }), CLUSTER);
  expect([dns.servers, dns.searches.length, warnings.map(({ reason }) => reason)]).toEqual([
    ['10.3.0.10', '192.0.2.1', '192.0.2.2'],
    32,
    ['DNSConfigForming', 'DNSConfigForming'],
  ]);
  const long = Array.from({ length: 20 }, (_, index) => `${index}${'a'.repeat(200)}`);
  const line = podDns(pod({ dnsConfig: { searches: long } }), CLUSTER).dns.searches.join(' ');
  expect([line.length <= 2048, line.length > 1800]).toEqual([true, true]);
});

test('without a cluster DNS pods have that of their node, with an event', () => {
  const { dns, warnings } = podDns(pod({}), undefined);
  expect([resolvConf(dns), warnings[0]?.reason]).toEqual([
    'search .\nnameserver 127.0.0.1\n',
    'MissingClusterDNS',
  ]);
});

test('the hosts file has the pod, its names and its aliases', () => {
  const subject = pod({
    hostname: 'web-0',
    subdomain: 'web',
    hostAliases: [{ ip: '10.1.2.3', hostnames: ['foo.local', 'bar.local'] }],
  });
  expect(hostsFile(subject, '10.0.0.7', 'cluster.local').split('\n').slice(0, 2)).toEqual([
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
  ]);
  expect(hostsFile(subject, '10.0.0.7', 'cluster.local').split('\n').slice(-5)).toEqual([
    '10.0.0.7\tweb-0.web.default.svc.cluster.local\tweb-0',
    '',
    '# Entries added by HostAliases.',
    '10.1.2.3\tfoo.local\tbar.local',
    '',
  ]);
  expect(hostsFile(pod({}), '10.0.0.7', 'cluster.local')).toMatch(/\n10\.0\.0\.7\tweb\n$/);
});

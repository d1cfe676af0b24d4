import { expect, test } from 'vitest';
import { fixedSource, SPECIFIED } from '../testing/fixed-source.ts';
import { CLASS_IN, rcodeText, TYPE, typeText, type ResourceRecord } from '../wire/index.ts';
import { answerQuestion } from './index.ts';

const source = fixedSource(SPECIFIED);
const config = {
  zone: 'cluster.local.',
  ttlSeconds: 30,
  service: { namespace: 'kube-system', name: 'kube-dns' },
};

const dataText = ({ data }: ResourceRecord): string => {
  switch (data.kind) {
    case 'address':
      return data.address;
    case 'name':
      return data.target;
    case 'srv':
      return `${data.priority} ${data.weight} ${data.port} ${data.target}`;
    case 'txt':
      return data.texts.map((text) => JSON.stringify(text)).join(' ');
    case 'mx':
    case 'raw':
    case 'soa':
      return data.kind;
  }
};
const recordText = (record: ResourceRecord): string =>
  `${record.name} ${record.ttlSeconds} ${typeText(record.type)} ${dataText(record)}`;

const ask = (name: string, type: keyof typeof TYPE) => {
  const answer = answerQuestion({ name, type: TYPE[type], class: CLASS_IN }, source, config);
  if (!answer) return 'not ours';
  const { rcode, answers, authorities, additionals } = answer;
  const sections = [answers, authorities, additionals].map((records) => records.map(recordText));
  return [rcodeText(rcode), ...sections];
};
const SOA = 'cluster.local. 30 SOA soa';
const NXDOMAIN = ['NXDOMAIN', [], [SOA], []];
const NODATA = ['NOERROR', [], [SOA], []];

test.each<[string, keyof typeof TYPE, string[]]>([
  ['dns-version.cluster.local.', 'TXT', ['dns-version.cluster.local. 28800 TXT "1.1.0"']],
  ['kubernetes.default.svc.cluster.local.', 'A', ['kubernetes.default.svc.cluster.local. 30 A 10.3.0.1']],
  ['KUBERNETES.Default.svc.CLUSTER.local.', 'A', ['KUBERNETES.Default.svc.CLUSTER.local. 30 A 10.3.0.1']],
  ['dual.default.svc.cluster.local.', 'AAAA', ['dual.default.svc.cluster.local. 30 AAAA 2001:db8::1']],
  [
    'headless.default.svc.cluster.local.',
    'A',
    [
      'headless.default.svc.cluster.local. 30 A 10.3.0.100',
      'headless.default.svc.cluster.local. 30 A 10.3.0.101',
    ],
  ],
  [
    'my-pet.headless.default.svc.cluster.local.',
    'A',
    ['my-pet.headless.default.svc.cluster.local. 30 A 10.3.0.100'],
  ],
  [
    '10-3-0-101.headless.default.svc.cluster.local.',
    'A',
    ['10-3-0-101.headless.default.svc.cluster.local. 30 A 10.3.0.101'],
  ],
  // Endpoints of a Service with an address have names too, as CoreDNS has it.
  [
    '10-3-0-130.kubernetes.default.svc.cluster.local.',
    'A',
    ['10-3-0-130.kubernetes.default.svc.cluster.local. 30 A 10.3.0.130'],
  ],
  ['no-ports.default.svc.cluster.local.', 'A', ['no-ports.default.svc.cluster.local. 30 A 10.3.0.120']],
  ['10-1-2-3.default.pod.cluster.local.', 'A', ['10-1-2-3.default.pod.cluster.local. 30 A 10.1.2.3']],
  [
    '2001-db8--5.default.pod.cluster.local.',
    'AAAA',
    ['2001-db8--5.default.pod.cluster.local. 30 AAAA 2001:db8::5'],
  ],
  ['ns.dns.cluster.local.', 'A', ['ns.dns.cluster.local. 30 A 10.3.0.10']],
  ['1.0.3.10.in-addr.arpa.', 'PTR', ['1.0.3.10.in-addr.arpa. 30 PTR kubernetes.default.svc.cluster.local.']],
  [
    '100.0.3.10.in-addr.arpa.',
    'PTR',
    ['100.0.3.10.in-addr.arpa. 30 PTR my-pet.headless.default.svc.cluster.local.'],
  ],
  [
    '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
    'PTR',
    [
      '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 30 PTR dual.default.svc.cluster.local.',
    ],
  ],
  ['foo.default.svc.cluster.local.', 'CNAME', ['foo.default.svc.cluster.local. 30 CNAME www.example.com.']],
  [
    'inside.default.svc.cluster.local.',
    'A',
    [
      'inside.default.svc.cluster.local. 30 CNAME dual.default.svc.cluster.local.',
      'dual.default.svc.cluster.local. 30 A 10.3.0.2',
    ],
  ],
])('%s %s', (name, type, answers) => expect(ask(name, type)).toEqual(['NOERROR', answers, [], []]));

test('a named port is an SRV record, with the addresses beside it', () => {
  expect([
    ask('_https._tcp.kubernetes.default.svc.cluster.local.', 'SRV'),
    ask('_http._tcp.headless.default.svc.cluster.local.', 'SRV'),
    ask('no-ports.default.svc.cluster.local.', 'SRV'),
  ]).toEqual([
    [
      'NOERROR',
      [
        '_https._tcp.kubernetes.default.svc.cluster.local. 30 SRV 0 100 443 kubernetes.default.svc.cluster.local.',
      ],
      [],
      ['kubernetes.default.svc.cluster.local. 30 A 10.3.0.1'],
    ],
    [
      'NOERROR',
      ['my-pet', '10-3-0-101'].map(
        (name) =>
          `_http._tcp.headless.default.svc.cluster.local. 30 SRV 0 50 8080 ${name}.headless.default.svc.cluster.local.`,
      ),
      [],
      [
        'my-pet.headless.default.svc.cluster.local. 30 A 10.3.0.100',
        '10-3-0-101.headless.default.svc.cluster.local. 30 A 10.3.0.101',
      ],
    ],
    NODATA,
  ]);
});

test.each<[string, keyof typeof TYPE]>([
  ['nothing.default.svc.cluster.local.', 'A'],
  ['kubernetes.elsewhere.svc.cluster.local.', 'A'],
  // No ready endpoint: the specification wants NXDOMAIN.
  ['empty.default.svc.cluster.local.', 'A'],
  ['my-pet.kubernetes.default.svc.cluster.local.', 'A'],
  ['_nothing._tcp.kubernetes.default.svc.cluster.local.', 'SRV'],
  ['_https._udp.kubernetes.default.svc.cluster.local.', 'SRV'],
  ['a.b.c.kubernetes.default.svc.cluster.local.', 'A'],
  ['_http._tcp.foo.default.svc.cluster.local.', 'SRV'],
  ['not-an-address.default.pod.cluster.local.', 'A'],
  ['10-1-2-3.elsewhere.pod.cluster.local.', 'A'],
  ['elsewhere.svc.cluster.local.', 'A'],
  ['svc2.cluster.local.', 'A'],
  ['nothing.default.svc.cluster.local.', 'TXT'],
])('%s %s is NXDOMAIN', (name, type) => expect(ask(name, type)).toEqual(NXDOMAIN));

test.each<[string, keyof typeof TYPE]>([
  ['kubernetes.default.svc.cluster.local.', 'AAAA'],
  ['kubernetes.default.svc.cluster.local.', 'TXT'],
  ['kubernetes.default.svc.cluster.local.', 'ANY'],
  ['default.svc.cluster.local.', 'A'],
  ['svc.cluster.local.', 'A'],
  ['cluster.local.', 'A'],
  ['10-1-2-3.default.pod.cluster.local.', 'AAAA'],
  ['dns-version.cluster.local.', 'A'],
])('%s %s exists and has no such record', (name, type) => expect(ask(name, type)).toEqual(NODATA));

test('the zone names its server and its SOA', () => {
  expect([ask('cluster.local.', 'NS'), ask('cluster.local.', 'SOA')]).toEqual([
    [
      'NOERROR',
      ['cluster.local. 30 NS kube-dns.kube-system.svc.cluster.local.'],
      [],
      ['kube-dns.kube-system.svc.cluster.local. 30 A 10.3.0.10'],
    ],
    ['NOERROR', [SOA], [], []],
  ]);
});

test('an alias out of the zone says where to continue, one to nothing and one in a circle end', () => {
  const of = (name: string) =>
    answerQuestion(
      { name: `${name}.default.svc.cluster.local.`, type: TYPE.A, class: CLASS_IN },
      source,
      config,
    );
  expect([of('foo')?.continuesAt, of('to-nothing')?.rcode, of('circle')?.rcode]).toEqual([
    'www.example.com.',
    3,
    2,
  ]);
});

test.each(['www.example.com.', 'local.', '9.9.3.10.in-addr.arpa.', '3.10.in-addr.arpa.'])(
  '%s is none of the cluster’s',
  (name) => expect(ask(name, 'A')).toBe('not ours'),
);

import { expect, test } from 'vitest';
import { readDnsConfig } from './config.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/resolv.conf': '# a comment\nsearch lan\nnameserver 192.0.2.1\nnameserver 2001:db8::1\n',
  '/empty': 'search lan\n',
};
const read = (...args: string[]) =>
  readDnsConfig(['--kubeconfig', 'k', ...args], (path) => {
    const text = FILES[path];
    if (text === undefined) throw new Error('no such file');
    return text;
  });

test('flags become one configuration', () => {
  expect(
    read(
      '--bind-address=127.20.0.1',
      '--port=10053',
      '--cluster-domain=Desk.Local.',
      '--forward=192.0.2.9,192.0.2.8:5353,[::1]:54,/etc/resolv.conf',
    ),
  ).toMatchObject({
    bind: { host: '127.20.0.1', port: 10_053 },
    metrics: { host: '127.0.0.1', port: 9153 },
    zone: { zone: 'desk.local.', ttlSeconds: 30, service: { namespace: 'kube-system', name: 'kube-dns' } },
    upstreams: [
      { host: '192.0.2.9', port: 53 },
      { host: '192.0.2.8', port: 5353 },
      { host: '::1', port: 54 },
      { host: '192.0.2.1', port: 53 },
      { host: '2001:db8::1', port: 53 },
    ],
  });
  expect(read('--metrics-bind-address=').metrics).toBeUndefined();
});

test.each([
  [['--forward=dns.example.com'], '--forward: "dns.example.com" must be an address and a port'],
  [['--forward=/nothing'], '--forward: cannot read /nothing: no such file'],
  [['--forward=/empty'], '--forward: /empty has no nameserver'],
  [['--bind-address=localhost'], '--bind-address: "localhost" must be an IP address'],
  [['--cluster-domain=.'], '--cluster-domain must not be empty'],
  [['--cluster-domain=a..b'], '--cluster-domain: name "a..b." has an empty label'],
  [['--service=kube-dns'], '--service must be a namespace and a name'],
  [['extra'], 'unexpected argument "extra"'],
])('%j is refused in one line', (args, message) => {
  expect(() => read(...args)).toThrow(message);
});

import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS, readControllerSettings } from './config.ts';

test("kubeadm's command line is understood", () => {
  const settings = readControllerSettings([
    '--allocate-node-cidrs=true',
    '--authentication-kubeconfig=/k/controller-manager.conf',
    '--authorization-kubeconfig=/k/controller-manager.conf',
    '--bind-address=127.40.0.1',
    '--client-ca-file=/pki/ca.crt',
    '--cluster-cidr=127.41.0.0/16',
    '--cluster-name=desk',
    '--cluster-signing-cert-file=/pki/ca.crt',
    '--cluster-signing-key-file=/pki/ca.key',
    '--controllers=*,-ttl',
    '--kubeconfig=/k/controller-manager.conf',
    '--leader-elect=true',
    '--requestheader-client-ca-file=/pki/front-proxy-ca.crt',
    '--root-ca-file=/pki/ca.crt',
    '--service-account-private-key-file=/pki/sa.key',
    '--service-cluster-ip-range=127.40.64.0/18',
    '--use-service-account-credentials=true',
  ]);
  expect(settings).toMatchObject({ controllers: ['*', '-ttl'], 'cluster-cidr': '127.41.0.0/16' });
});

test.each<[string, string[], string]>([
  ['a cluster is needed', [], '--kubeconfig must be given'],
  ['ranges of nodes come from a range', ['--kubeconfig=x', '--allocate-node-cidrs'], 'needs --cluster-cidr'],
  [
    'an authority needs its key',
    ['--kubeconfig=x', '--cluster-signing-cert-file=y'],
    'must be given together',
  ],
  [
    'a lease outlives its deadline',
    ['--kubeconfig=x', '--leader-elect-lease-duration=5s'],
    'must be greater',
  ],
])('%s', (_claim, args, message) => {
  expect(() => readControllerSettings(args)).toThrow(message);
});

test('defaults are upstream defaults, except where the help says so', () => {
  expect(DEFAULT_SETTINGS['node-monitor-grace-period']).toBe(40_000);
  expect(DEFAULT_SETTINGS['leader-elect-resource-name']).toBe('kube-controller-manager');
});

import { expect, test } from 'vitest';
import { CLOUD_CONTROLLERS } from '../cloud-controllers.ts';
import { readCloudSettings } from './config.ts';

test('the command line of the static pod is understood', () => {
  const settings = readCloudSettings([
    '--cloud-provider=loopback',
    '--kubeconfig=/k.conf',
    '--authentication-kubeconfig=/k.conf',
    '--bind-address=127.20.0.1',
    '--leader-elect=true',
    '--cluster-cidr=127.21.0.0/16',
    '--cluster-name=desk',
    '--load-balancer-range=127.20.8.0/21',
    '--use-service-account-credentials=true',
  ]);
  expect(settings).toMatchObject({
    'cloud-provider': 'loopback',
    'secure-port': 10_258,
    'leader-elect-resource-name': 'cloud-controller-manager',
    'load-balancer-range': '127.20.8.0/21',
    'node-monitor-period': 5000,
  });
});

test.each([
  [['--kubeconfig=/k', '--load-balancer-range=10.0.0.0/24'], '--load-balancer-range'],
  [['--kubeconfig=/k', '--allocate-node-cidrs'], '--cluster-cidr'],
  [['--kubeconfig=/k', '--cloud-provider=aws'], '--cloud-provider'],
  [[], '--kubeconfig'],
])('%j is refused with a line that names %s', (args, named) => {
  expect(() => readCloudSettings(args)).toThrow(named);
});

test('the controllers have the names and accounts that upstream gives them', () => {
  expect(CLOUD_CONTROLLERS.map(({ name, serviceAccount }) => `${name} ${serviceAccount}`)).toEqual([
    'cloud-node-controller node-controller',
    'cloud-node-lifecycle-controller node-controller',
    'service-lb-controller service-controller',
    'node-route-controller route-controller',
  ]);
});

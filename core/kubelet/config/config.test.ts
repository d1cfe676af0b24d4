import { expect, test } from 'vitest';
import { readKubeletConfig } from './config.ts';

const file = (fields: object) => (): string =>
  JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields });
const none = (): string => '';

test('flags win over the file, and the file over defaults', () => {
  const fields = {
    clusterDNS: ['10.96.0.10'],
    maxPods: 50,
    port: 10_260,
    cgroupDriver: 'cgroupfs',
    authentication: { x509: { clientCAFile: '/ca.crt' }, anonymous: { enabled: false } },
  };
  const args = [
    '--config=/c',
    '--kubeconfig=/k',
    '--port=10270',
    '--hostname-override=N1',
    '--node-labels=a=b',
  ];
  expect(readKubeletConfig(args, file(fields))).toMatchObject({
    nodeName: 'n1',
    labels: { a: 'b' },
    clusterDns: ['10.96.0.10'],
    podsMax: 50,
    port: 10_270,
    clientCaFile: '/ca.crt',
    runtimeEndpoint: 'unix:///run/containerd/containerd.sock',
  });
});

test.each([
  [[], none, '--kubeconfig must be given'],
  [['--kubeconfig=/k', '--node-ip=x'], none, '--node-ip'],
  [['--kubeconfig=/k', '--tls-cert-file=/c'], none, 'must be given together'],
  [['--kubeconfig=/k', '--node-labels=x'], none, '--node-labels'],
  [
    ['--kubeconfig=/k', '--config=/c'],
    file({ cgroupDriver: 'systemd' }),
    'cgroupDriver: "systemd" is not supported',
  ],
  [
    ['--kubeconfig=/k', '--config=/c'],
    file({ evictionHard: { x: '1' } }),
    'evictionHard.x: "1" is not supported',
  ],
  [['--kubeconfig=/k', '--config=/c'], none, 'is not a KubeletConfiguration'],
  [['--kubeconfig=/k', '--swap'], none, 'swap'],
])('%j is refused with the reason', (args, readFile, message) => {
  expect(() => readKubeletConfig(args, readFile)).toThrow(message);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readProxyConfig } from './config.ts';

test('a command line becomes a configuration', async () => {
  expect(
    await readProxyConfig([
      '--kubeconfig=/k.conf',
      '--hostname-override=Worker-1,worker-2',
      '--proxy-mode=loopback',
      '--cluster-cidr=127.21.0.0/16',
      '--bind-address=127.20.16.1',
      '--healthz-bind-address=10256',
      '--metrics-bind-address=',
    ]),
  ).toEqual({
    mode: 'loopback',
    kubeconfig: '/k.conf',
    policyKubeconfig: '',
    master: '',
    nodeNames: ['worker-1', 'worker-2'],
    healthz: { host: '127.20.16.1', port: 10_256 },
    metrics: undefined,
    connectionsMax: 8192,
    claims: { external: [], nodePort: [], cluster: [] },
    localRanges: [],
    clusterRanges: [expect.objectContaining({ text: '127.21.0.0/16' })],
  });
});

test('without a name it is the machine', async () => {
  expect((await readProxyConfig(['--kubeconfig=/k'])).nodeNames).toEqual([hostname().toLowerCase()]);
});

test.each([
  [['--proxy-mode=iptables', '--kubeconfig=/k'], '--proxy-mode'],
  [['--healthz-bind-address=nowhere:1', '--kubeconfig=/k'], '--healthz-bind-address'],
  [[], '--kubeconfig'],
  [['--kubeconfig=/k', '--external-ip-ranges=nowhere'], '--external-ip-ranges'],
  [['--kubeconfig=/k', '--nodeport-addresses=127.0.0.0/40'], '--nodeport-addresses'],
  [['--kubeconfig=/k', '--cluster-cidr=127'], '--cluster-cidr'],
  [['--kubeconfig=/k', 'stray'], '"stray"'],
])('%j is refused with a line that names %s', async (args, named) => {
  await expect(readProxyConfig(args)).rejects.toThrow(named);
});

test('a file says everything but the name of the node', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proxy-config-'));
  const path = join(folder, 'config.yaml');
  try {
    await writeFile(
      path,
      [
        'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
        'kind: KubeProxyConfiguration',
        'clientConnection: { kubeconfig: /file.conf }',
        'healthzBindAddress: 127.20.0.1:10256',
        'hostnameOverride: from-file',
        'mode: ""',
      ].join('\n'),
    );
    expect(
      await readProxyConfig([`--config=${path}`, '--hostname-override=cp-1', '--kubeconfig=/flag.conf']),
    ).toMatchObject({
      kubeconfig: '/file.conf',
      nodeNames: ['cp-1'],
      healthz: { host: '127.20.0.1', port: 10_256 },
    });
    await writeFile(path, 'kind: KubeletConfiguration');
    await expect(readProxyConfig([`--config=${path}`])).rejects.toThrow('is not a KubeProxyConfiguration');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('rules of the kernel are a mode, and need no addresses of this machine', async () => {
  const args = ['--kubeconfig=/k.conf', '--proxy-mode=nftables'];
  expect((await readProxyConfig(args)).mode).toBe('nftables');
  for (const name of ['local-ranges', 'external-ip-ranges'])
    await expect(readProxyConfig([...args, `--${name}=10.1.0.0/16`])).rejects.toThrow(
      `--${name} cannot be combined with --proxy-mode nftables`,
    );
});

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { manualClock } from '../../base/manual-clock.ts';
import { writeKubeconfig } from '../../pki/index.ts';
import { Credentials } from './credentials.ts';
import { inClusterConfig } from './in-cluster.ts';
import { configFrom, contextsOf, loadKubeconfig, loadOwnKubeconfig, parseKubeconfig } from './kubeconfig.ts';
import { proxyFor } from './proxy.ts';

const KUBECONFIG = {
  'current-context': 'dev',
  contexts: [
    { name: 'dev', context: { cluster: 'c', user: 'files', namespace: 'apps' } },
    { name: 'exec', context: { cluster: 'other', user: 'exec' } },
    { name: 'broken', context: { cluster: 'nowhere', user: 'files' } },
  ],
  clusters: [
    { name: 'c', cluster: { server: 'https://a:6443', 'certificate-authority': 'ca.crt' } },
    {
      name: 'other',
      cluster: {
        server: 'https://b',
        'insecure-skip-tls-verify': true,
        'tls-server-name': 'api',
        'proxy-url': 'http://proxy:3128',
      },
    },
  ],
  users: [
    {
      name: 'files',
      user: {
        'client-certificate': 'pki/a.crt',
        'client-key': '/abs/a.key',
        as: 'jane',
        'as-groups': ['g'],
        'as-user-extra': { scopes: ['x'] },
      },
    },
    {
      name: 'exec',
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1beta1',
          command: './bin/login',
          args: ['--json'],
          env: [{ name: 'A', value: 'b' }],
          interactiveMode: 'IfAvailable',
        },
      },
    },
  ],
};

test('files are relative to the kubeconfig, and a context has its user, cluster and namespace', () => {
  expect(configFrom(KUBECONFIG, { folder: '/home/me/.kube' })).toEqual({
    servers: ['https://a:6443'],
    authority: { file: '/home/me/.kube/ca.crt' },
    auth: {
      certificate: { file: '/home/me/.kube/pki/a.crt' },
      key: { file: '/abs/a.key' },
      impersonation: { user: 'jane', groups: ['g'], extra: { scopes: ['x'] } },
    },
    namespace: 'apps',
  });
  expect(configFrom(KUBECONFIG, { context: 'exec', folder: '/k' })).toMatchObject({
    insecureSkipTlsVerify: true,
    tlsServerName: 'api',
    proxyUrl: 'http://proxy:3128',
    auth: { exec: { command: '/k/bin/login', args: ['--json'], env: { A: 'b' } } },
    namespace: 'default',
  });
  expect(contextsOf(KUBECONFIG).map(({ name, isCurrent }) => [name, isCurrent])).toEqual([
    ['dev', true],
    ['exec', false],
    ['broken', false],
  ]);
});

test('missing values are named', () => {
  expect(() => configFrom(KUBECONFIG, { context: 'broken' })).toThrow('cluster "nowhere" not found');
  expect(() => configFrom(KUBECONFIG, { context: 'x' })).toThrow('context "x" not found');
  expect(() => configFrom({})).toThrow('no current-context');
  expect(() => parseKubeconfig('a: [')).toThrow('not valid YAML: line 1');
});

test('a kubeconfig that this project writes is read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  try {
    const path = join(folder, 'admin.conf');
    const credential = { certificatePem: 'CERT', privateKeyPem: 'KEY' };
    writeFileSync(
      path,
      writeKubeconfig({
        clusterName: 'kubernetes',
        server: 'https://127.0.0.1:6443',
        authorityPem: 'CA',
        userName: 'admin',
        credential,
      }),
    );
    expect(await loadKubeconfig(path)).toEqual({
      servers: ['https://127.0.0.1:6443'],
      authority: { data: 'CA' },
      auth: { certificate: { data: 'CERT' }, key: { data: 'KEY' } },
      namespace: 'default',
    });
    writeFileSync(join(folder, 'namespace'), 'kube-system\n');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(await inClusterConfig(env, folder)).toEqual({
      servers: ['https://[fd00::1]:443'],
      authority: { file: join(folder, 'ca.crt') },
      auth: { tokenFile: join(folder, 'token') },
      namespace: 'kube-system',
    });
    await expect(inClusterConfig({}, folder)).rejects.toThrow('KUBERNETES_SERVICE_HOST');
    expect(parseKubeconfig(stringify(KUBECONFIG))).toEqual(KUBECONFIG);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a certificate that is renewed in a kubeconfig of the cluster is taken into use', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  try {
    const path = join(folder, 'kubelet.conf');
    const write = (certificatePem: string, modifiedSeconds: number): void => {
      const credential = { certificatePem, privateKeyPem: `${certificatePem} KEY` };
      const parts = { clusterName: 'c', server: 'https://127.0.0.1:6443', authorityPem: 'CA', userName: 'n' };
      writeFileSync(path, writeKubeconfig({ ...parts, credential }));
      utimesSync(path, modifiedSeconds, modifiedSeconds);
    };
    write('OLD', 1);
    const clock = manualClock();
    const credentials = new Credentials(await loadOwnKubeconfig(path), clock);
    const shown = async () => {
      clock.advance(60_000);
      const { certificate, key } = await credentials.tls(undefined);
      return [certificate, key];
    };
    expect(await shown()).toEqual(['OLD', 'OLD KEY']);
    write('NEW', 2);
    expect(await shown()).toEqual(['NEW', 'NEW KEY']);
    writeFileSync(path, 'damaged: [');
    expect(await shown()).toEqual(['NEW', 'NEW KEY']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ['api.example.com', 'http://configured:1', {}, 'configured:1'],
  ['api.example.com', undefined, { HTTPS_PROXY: 'http://env:1' }, 'env:1'],
  ['api.example.com', '', { HTTPS_PROXY: 'http://env:1' }, undefined],
  ['api.example.com', undefined, { https_proxy: 'env:1', no_proxy: 'example.com' }, undefined],
  ['api.example.org', undefined, { HTTPS_PROXY: 'http://env:1', NO_PROXY: '.example.com, x' }, 'env:1'],
  ['10.1.2.3', undefined, { HTTPS_PROXY: 'http://env:1', NO_PROXY: '10.0.0.0/8' }, undefined],
  ['11.1.2.3', undefined, { HTTPS_PROXY: 'http://env:1', NO_PROXY: '10.0.0.0/8' }, 'env:1'],
  ['127.0.0.1', undefined, { HTTPS_PROXY: 'http://env:1' }, undefined],
])('%s with proxy-url %s and %j goes through %s', (host, configured, env, expected) => {
  expect(proxyFor({ host, port: 6443 }, configured, env)?.host).toBe(expected);
});

import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign, verify, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '../base/node/clock.ts';
import { createClusterPki } from './cluster-pki.ts';
import type { ClusterPkiSpec } from './cluster-spec.ts';
import { isPkiError } from './errors.ts';
import { inspectPem } from './inspect.ts';
import { listCertificates } from './inventory.ts';
import { isKeyPair } from './issue.ts';
import { readKubeconfig } from './kubeconfig.ts';
import { certificatePath, keyPath, kubeconfigPath, listFiles } from './pki-folder.ts';

const host = (name: string, n: number) => ({ name, addresses: [`127.7.0.${n}`] });
const controlPlanes = [host('cp-1', 1), host('cp-2', 2), host('cp-3', 3)];
const SPEC: ClusterPkiSpec = {
  clusterName: 'kubernetes',
  controlPlanes,
  etcdMembers: controlPlanes,
  nodes: [...controlPlanes, host('w-1', 11), host('w-2', 12)],
  endpoint: { host: '127.7.0.100', port: 6443 },
  serviceAddress: '10.96.0.1',
};

let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-pki-'));
  await createClusterPki(SPEC, directory, systemClock);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const subjectAt = (base: string) => {
  const { subject, issuer, usages, alternativeNames } = inspectPem(
    readFileSync(certificatePath(directory, base), 'utf8'),
  );
  const hosts = [...alternativeNames.dnsNames, ...alternativeNames.ipAddresses];
  return { subject, issuer: issuer.commonName, usages, hosts };
};

test('a cluster of three with two workers gets all its files', async () => {
  const crt = await listFiles(join(directory, 'pki'), '.crt');
  const keys = await listFiles(join(directory, 'pki'), '.key');
  const perControlPlane = ['apiserver', 'etcd/peer', 'etcd/server', 'kubelet'];
  const expected = [
    ...['apiserver-etcd-client', 'apiserver-kubelet-client', 'ca', 'etcd/ca', 'etcd/healthcheck-client'],
    ...['front-proxy-ca', 'front-proxy-client'],
    ...['cp-1', 'cp-2', 'cp-3'].flatMap((name) => perControlPlane.map((base) => `hosts/${name}/${base}`)),
    ...['hosts/w-1/kubelet', 'hosts/w-2/kubelet'],
  ].sort();
  expect(crt).toEqual(expected.map((base) => `${base}.crt`));
  expect(keys).toEqual([...expected, 'sa'].map((base) => `${base}.key`).sort());
  expect(await listFiles(join(directory, 'kubeconfig'), '.conf')).toEqual(
    [
      ...['admin', 'cloud-controller-manager', 'console', 'controller-manager', 'kube-dns', 'kube-proxy'],
      ...[
        'kubelet-cp-1',
        'kubelet-cp-2',
        'kubelet-cp-3',
        'kubelet-w-1',
        'kubelet-w-2',
        'network-policy',
        'scheduler',
        'super-admin',
      ],
    ].map((name) => `${name}.conf`),
  );
});

test('subjects, usages and names are those kubeadm gives', () => {
  expect([
    subjectAt('hosts/cp-2/apiserver'),
    subjectAt('apiserver-kubelet-client'),
    subjectAt('apiserver-etcd-client'),
    subjectAt('hosts/cp-1/etcd/peer'),
    subjectAt('hosts/w-1/kubelet'),
    subjectAt('front-proxy-client'),
  ]).toEqual([
    {
      subject: { commonName: 'kube-apiserver', organizations: [] },
      issuer: 'kubernetes',
      usages: ['server'],
      hosts: [
        ...['cp-2', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
        ...['kubernetes.default.svc.cluster.local', '10.96.0.1', '127.7.0.2', '127.7.0.100'],
      ],
    },
    {
      subject: { commonName: 'kube-apiserver-kubelet-client', organizations: ['kubeadm:cluster-admins'] },
      issuer: 'kubernetes',
      usages: ['client'],
      hosts: [],
    },
    {
      subject: { commonName: 'kube-apiserver-etcd-client', organizations: [] },
      issuer: 'etcd-ca',
      usages: ['client'],
      hosts: [],
    },
    {
      subject: { commonName: 'cp-1', organizations: [] },
      issuer: 'etcd-ca',
      usages: ['server', 'client'],
      hosts: ['cp-1', 'localhost', '127.7.0.1', '127.0.0.1', '::1'],
    },
    {
      subject: { commonName: 'system:node:w-1', organizations: ['system:nodes'] },
      issuer: 'kubernetes',
      usages: ['server'],
      hosts: ['w-1', '127.7.0.11'],
    },
    {
      subject: { commonName: 'front-proxy-client', organizations: [] },
      issuer: 'front-proxy-ca',
      usages: ['client'],
      hosts: [],
    },
  ]);
});

test('every certificate was signed by its authority and has its key', async () => {
  const roots = { kubernetes: 'ca', etcd: 'etcd/ca', 'front-proxy': 'front-proxy-ca' } as const;
  for (const { name, kind, path, authority, certificate } of await listCertificates(directory)) {
    expect([name, authority]).not.toEqual([name, undefined]);
    const root = new X509Certificate(
      readFileSync(certificatePath(directory, roots[authority ?? 'kubernetes'])),
    );
    expect([name, new X509Certificate(certificate.der).verify(root.publicKey)]).toEqual([name, true]);
    const credential =
      kind === 'kubeconfig'
        ? readKubeconfig(readFileSync(path, 'utf8'), path).credential
        : {
            certificatePem: readFileSync(path, 'utf8'),
            privateKeyPem: readFileSync(keyPath(directory, name), 'utf8'),
          };
    expect([name, isKeyPair(credential)]).toEqual([name, true]);
  }
});

test('kubeconfigs are self-contained and name user, cluster and server', () => {
  const config = parse(readFileSync(kubeconfigPath(directory, 'admin.conf'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(config).toMatchObject({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'kubernetes-admin@kubernetes',
    contexts: [
      { name: 'kubernetes-admin@kubernetes', context: { cluster: 'kubernetes', user: 'kubernetes-admin' } },
    ],
    clusters: [{ name: 'kubernetes', cluster: { server: 'https://127.7.0.100:6443' } }],
  });
  const identity = (file: string) => {
    const path = kubeconfigPath(directory, file);
    return inspectPem(readKubeconfig(readFileSync(path, 'utf8'), path).credential.certificatePem).subject;
  };
  expect([
    identity('admin.conf'),
    identity('console.conf'),
    identity('kubelet-w-2.conf'),
    identity('scheduler.conf'),
  ]).toEqual([
    { commonName: 'kubernetes-admin', organizations: ['kubeadm:cluster-admins'] },
    { commonName: 'pilothouse-console', organizations: ['pilothouse:console'] },
    { commonName: 'system:node:w-2', organizations: ['system:nodes'] },
    { commonName: 'system:kube-scheduler', organizations: [] },
  ]);
});

test('the service account keys are a pair', () => {
  const data = Buffer.from('token');
  const key = createPrivateKey(readFileSync(join(directory, 'pki/sa.key')));
  const publicKey = createPublicKey(readFileSync(join(directory, 'pki/sa.pub')));
  expect(verify('sha256', data, publicKey, sign('sha256', data, key))).toBe(true);
});

test.skipIf(process.platform === 'win32')('only the owner reads keys, and folders of keys', async () => {
  const mode = (path: string): number => statSync(join(directory, path)).mode & 0o777;
  for (const file of await listFiles(join(directory, 'pki'), '.key'))
    expect([file, mode(`pki/${file}`)]).toEqual([file, 0o600]);
  for (const file of await listFiles(join(directory, 'kubeconfig'), '.conf'))
    expect([file, mode(`kubeconfig/${file}`)]).toEqual([file, 0o600]);
  expect(['pki', 'pki/etcd', 'pki/hosts/cp-1', 'pki/hosts/cp-1/etcd', 'kubeconfig'].map(mode)).toEqual(
    new Array(5).fill(0o700),
  );
});

test('a second creation is refused: it would cut off what the first has signed', async () => {
  const error: unknown = await createClusterPki(SPEC, directory, systemClock).catch((e: unknown) => e);
  expect(isPkiError(error, 'AlreadyExists')).toBe(true);
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
test.runIf(hasOpenssl)('openssl verifies each leaf for its purpose', () => {
  const verified = (ca: string, purpose: string, base: string): string =>
    execFileSync('openssl', [
      ...['verify', '-x509_strict', '-CAfile', certificatePath(directory, ca), '-purpose', purpose],
      certificatePath(directory, base),
    ]).toString();
  expect(
    [
      verified('ca', 'sslserver', 'hosts/cp-1/apiserver'),
      verified('ca', 'sslserver', 'hosts/w-1/kubelet'),
      verified('ca', 'sslclient', 'apiserver-kubelet-client'),
      verified('etcd/ca', 'sslserver', 'hosts/cp-3/etcd/server'),
      verified('etcd/ca', 'sslclient', 'hosts/cp-3/etcd/peer'),
      verified('front-proxy-ca', 'sslclient', 'front-proxy-client'),
    ].every((line) => line.endsWith(': OK\n')),
  ).toBe(true);
});

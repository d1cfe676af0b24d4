import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { listCertificates } from '../../pki/index.ts';
import { putManifestBack, setManifestAside } from './manifest-aside.ts';
import { openDataFolder, readCluster, type SpecWishes } from './open.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-data-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const SMALL: SpecWishes = { controlPlanes: 1, workers: 1, network: 222, externalEtcd: undefined };

const openOnce = async (wishes: SpecWishes) => {
  const opened = await openDataFolder(folder, wishes, systemClock);
  opened.lock.dispose();
  return opened;
};

test('a new data directory is created from the wishes, and the next start finds it unchanged', async () => {
  const first = await openOnce(SMALL);
  expect([first.isNew, first.config.spec.etcdMembers]).toEqual([true, 1]);
  const authority = readFileSync(join(folder, 'pki', 'ca.crt'), 'utf8');
  const again = await openOnce({ externalEtcd: undefined });
  expect([again.isNew, again.config]).toEqual([false, first.config]);
  expect(readFileSync(join(folder, 'pki', 'ca.crt'), 'utf8')).toBe(authority);
  expect(statSync(join(folder, 'pki')).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'pki', 'ca.key')).mode & 0o777).toBe(0o600);
});

test('a start that was cut off is taken up again; a manifest that was deleted stays deleted', async () => {
  await openOnce(SMALL);
  const manifests = join(folder, 'hosts', 'cp-1', 'manifests');
  rmSync(join(manifests, 'kube-scheduler.yaml'));
  rmSync(join(folder, 'pki', 'front-proxy-ca.crt'));
  rmSync(join(folder, 'hosts', 'workers'), { recursive: true });
  await openOnce({ externalEtcd: undefined });
  expect(existsSync(join(folder, 'pki', 'front-proxy-ca.crt'))).toBe(true);
  expect(existsSync(join(folder, 'hosts', 'workers', 'manifests'))).toBe(true);
  expect(existsSync(join(manifests, 'kube-scheduler.yaml'))).toBe(false);
});

test('a new cluster has keys for Secrets and an audit policy, for its owner alone; lost keys are reported', async () => {
  await openOnce(SMALL);
  const modes = ['encryption.yaml', 'audit-policy.yaml'].map(
    (file) => statSync(join(folder, file)).mode & 0o777,
  );
  const manifest = readFileSync(join(folder, 'hosts', 'cp-1', 'manifests', 'kube-apiserver.yaml'), 'utf8');
  expect([modes, manifest.includes('--encryption-provider-config=')]).toEqual([[0o600, 0o600], true]);
  const keys = readFileSync(join(folder, 'encryption.yaml'), 'utf8');
  await openOnce({ externalEtcd: undefined });
  expect(readFileSync(join(folder, 'encryption.yaml'), 'utf8')).toBe(keys);
  rmSync(join(folder, 'encryption.yaml'));
  await expect(openOnce({ externalEtcd: undefined })).rejects.toMatchObject({
    reason: 'KeyLost',
    message: /encryption import/,
  });
});

test('a lost authority with data behind it is reported and not replaced', async () => {
  await openOnce(SMALL);
  mkdirSync(join(folder, 'hosts', 'cp-1', 'etcd', 'member'), { recursive: true });
  rmSync(join(folder, 'pki', 'etcd', 'ca.crt'));
  await expect(openOnce({ externalEtcd: undefined })).rejects.toMatchObject({ reason: 'AuthorityLost' });
  expect(existsSync(join(folder, 'pki', 'etcd', 'ca.crt'))).toBe(false);
});

test.each([
  ['pki/ca.crt', /ca\.crt is damaged and no certificate; put pki\/ back from a copy/],
  ['pki/ca.key', /ca\.key is damaged and no private key; put pki\/ back from a copy/],
  ['pki/sa.key', /sa\.key is damaged and no private key; tokens of service accounts/],
  [
    'pki/hosts/cp-1/apiserver.crt',
    /apiserver\.crt is damaged .*; delete pki\/hosts\/cp-1\/apiserver\.crt and/,
  ],
  ['kubeconfig/admin.conf', /admin\.conf is damaged and no kubeconfig; delete it, and the next start/],
])('%s that is damaged is one line that says what to do, and stays as it is', async (file, line) => {
  await openOnce(SMALL);
  writeFileSync(join(folder, file), 'junk');
  await expect(openOnce({ externalEtcd: undefined })).rejects.toMatchObject({
    reason: 'BadPki',
    message: line,
  });
  expect(readFileSync(join(folder, file), 'utf8')).toBe('junk');
});

test('a renewal that was cut off between certificate and key is done again', async () => {
  await openOnce(SMALL);
  const [ours, others] = ['hosts/cp-1/apiserver', 'front-proxy-client'];
  copyFileSync(join(folder, 'pki', `${others}.key`), join(folder, 'pki', `${ours}.key`));
  const before = readFileSync(join(folder, 'pki', `${ours}.crt`), 'utf8');
  await openOnce({ externalEtcd: undefined });
  expect(readFileSync(join(folder, 'pki', `${ours}.crt`), 'utf8')).not.toBe(before);
});

test('the service account key is not recreated', async () => {
  await openOnce(SMALL);
  rmSync(join(folder, 'pki', 'sa.key'));
  await expect(openOnce({ externalEtcd: undefined })).rejects.toMatchObject({
    message: /sa\.key is missing/,
  });
});

test('another number of workers is taken, another topology is refused', async () => {
  await openOnce(SMALL);
  const before = readFileSync(join(folder, 'pki', 'hosts', 'workers', 'kubelet.crt'), 'utf8');
  const grown = await openOnce({ workers: 3, externalEtcd: undefined });
  expect([grown.config.spec.workers, (await readCluster(folder))?.spec.workers]).toEqual([3, 3]);
  // The addresses of the new nodes must be in the certificate that they serve with.
  expect(readFileSync(join(folder, 'pki', 'hosts', 'workers', 'kubelet.crt'), 'utf8')).not.toBe(before);
  await expect(openOnce({ controlPlanes: 3, externalEtcd: undefined })).rejects.toMatchObject({
    reason: 'Contradiction',
  });
});

test('a folder is used by one process at a time', async () => {
  const opened = await openDataFolder(folder, SMALL, systemClock);
  await expect(openOnce({ externalEtcd: undefined })).rejects.toMatchObject({ reason: 'Locked' });
  opened.lock.dispose();
});

test('a manifest set aside comes back as it was', async () => {
  await openOnce(SMALL);
  const path = join(folder, 'hosts', 'cp-1', 'manifests', 'etcd.yaml');
  const text = readFileSync(path, 'utf8');
  await setManifestAside(folder, 'cp-1', 'etcd');
  expect(existsSync(path)).toBe(false);
  await putManifestBack(folder, 'cp-1', 'etcd');
  expect(readFileSync(path, 'utf8')).toBe(text);
  await expect(putManifestBack(folder, 'cp-1', 'etcd')).rejects.toMatchObject({ reason: 'NotFound' });
});

test.each<[string, SpecWishes, RegExp]>([
  ['of the stacked topology', { ...SMALL, etcdMembers: 5 }, /--etcd-members 5 goes with --topology external/],
  [
    'of an etcd that is not ours',
    {
      ...SMALL,
      topology: 'external',
      etcdMembers: 3,
      externalEtcd: { endpoints: ['https://127.0.0.1:2379'], caFile: '/a', certFile: '/b', keyFile: '/c' },
    },
    /--etcd-members does not go with --external-etcd/,
  ],
])('a number of members %s is refused, not ignored', async (_what, wishes, message) => {
  await expect(openOnce(wishes)).rejects.toThrow(message);
});

const kubeconfigs = (): string[] =>
  readdirSync(join(folder, 'kubeconfig')).filter((name) => name.startsWith('kubelet-'));

test('each worker has an identity of its own, readable by the owner alone', async () => {
  await openOnce({ ...SMALL, workers: 2 });
  expect(kubeconfigs()).toEqual(['kubelet-cp-1.conf', 'kubelet-worker-1.conf', 'kubelet-worker-2.conf']);
  const items = await listCertificates(folder);
  const { certificate, path } = items.find(({ name }) => name === 'kubelet-worker-2.conf')!;
  expect([certificate.subject, certificate.usages, statSync(path).mode & 0o777]).toEqual([
    { commonName: 'system:node:worker-2', organizations: ['system:nodes'] },
    ['client'],
    0o600,
  ]);
});

test('an identity that all workers shared is removed by the next start, and so are those of workers that are gone', async () => {
  await openOnce({ ...SMALL, workers: 2 });
  for (const name of ['worker-1', 'worker-2']) rmSync(join(folder, 'kubeconfig', `kubelet-${name}.conf`));
  copyFileSync(
    join(folder, 'kubeconfig', 'scheduler.conf'),
    join(folder, 'kubeconfig', 'kubelet-workers.conf'),
  );
  await openOnce({ externalEtcd: undefined });
  expect(kubeconfigs()).toEqual(['kubelet-cp-1.conf', 'kubelet-worker-1.conf', 'kubelet-worker-2.conf']);
  await openOnce({ externalEtcd: undefined, workers: 1 });
  expect(kubeconfigs()).toEqual(['kubelet-cp-1.conf', 'kubelet-worker-1.conf']);
});

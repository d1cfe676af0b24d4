import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdFolder, manifestsFolder } from '../../data-folder/layout.ts';
import type { Look } from '../look.ts';
import { type BenchmarkCheck, fileChecks, notApplicable } from './check.ts';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const PUBLIC_FILE = 0o644;

const manifest =
  (component: string) =>
  ({ dataDirectory, controlPlanes, etcdHosts }: Look): readonly string[] =>
    (component === 'etcd' ? etcdHosts : controlPlanes).map(({ name }) =>
      join(manifestsFolder(dataDirectory, name), `${component}.yaml`),
    );

const kubeconfigs =
  (...names: readonly string[]) =>
  ({ dataDirectory }: Look): readonly string[] =>
    names.map((name) => join(dataDirectory, 'kubeconfig', name));

const FILES_MAX = 10_000;

const below =
  (folder: string, isWanted: (name: string) => boolean, withFolders = false) =>
  async ({ dataDirectory }: Look): Promise<readonly string[]> => {
    const path = join(dataDirectory, folder);
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    return [
      ...(withFolders ? [path] : []),
      ...entries
        .slice(0, FILES_MAX)
        .filter((entry) => (entry.isFile() ? isWanted(entry.name) : withFolders && entry.isDirectory()))
        .map((entry) => join(entry.parentPath, entry.name)),
    ];
  };

const noSuchFile = (id: string, title: string, why: string): BenchmarkCheck => ({
  id,
  title,
  measure: () => Promise.resolve(notApplicable(why)),
});

const NO_CNI = 'pods have loopback addresses, so there is no container network interface';
const NO_SERVICE = 'kubelets run in the processes of their hosts, so there is no service file';
const NO_CONFIG = 'kubelets have no configuration file';

/** Section 1.1: files of the control plane. */
export const CONTROL_PLANE_FILES: readonly BenchmarkCheck[] = [
  ...fileChecks(['1.1.1', '1.1.2'], 'Manifest of the API server', {
    paths: manifest('kube-apiserver'),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks(['1.1.3', '1.1.4'], 'Manifest of the controller manager', {
    paths: manifest('kube-controller-manager'),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks(['1.1.5', '1.1.6'], 'Manifest of the scheduler', {
    paths: manifest('kube-scheduler'),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks(['1.1.7', '1.1.8'], 'Manifest of etcd', { paths: manifest('etcd'), mode: PRIVATE_FILE }),
  noSuchFile('1.1.9', 'Container network interface: mode 600 or stricter', NO_CNI),
  noSuchFile('1.1.10', 'Container network interface: owned by the user of the cluster', NO_CNI),
  ...fileChecks(['1.1.11', '1.1.12'], 'Data directory of etcd', {
    paths: ({ dataDirectory, etcdHosts }) => etcdHosts.map(({ name }) => etcdFolder(dataDirectory, name)),
    mode: PRIVATE_FOLDER,
  }),
  ...fileChecks(['1.1.13', '1.1.14'], 'Kubeconfigs of administrators', {
    paths: kubeconfigs('admin.conf', 'super-admin.conf'),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks(['1.1.15', '1.1.16'], 'Kubeconfig of the scheduler', {
    paths: kubeconfigs('scheduler.conf'),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks(['1.1.17', '1.1.18'], 'Kubeconfig of the controller manager', {
    paths: kubeconfigs('controller-manager.conf'),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks([undefined, '1.1.19'], 'PKI directory', {
    paths: below('pki', () => true, true),
    mode: PRIVATE_FOLDER,
  }),
  ...fileChecks(['1.1.20', undefined], 'Certificates', {
    paths: below('pki', (name) => name.endsWith('.crt')),
    mode: PUBLIC_FILE,
  }),
  ...fileChecks(['1.1.21', undefined], 'Private keys', {
    paths: below('pki', (name) => name.endsWith('.key')),
    mode: PRIVATE_FILE,
  }),
];

/** Section 4.1: files of nodes. */
export const NODE_FILES: readonly BenchmarkCheck[] = [
  noSuchFile('4.1.1', 'Service file of the kubelet: mode 600 or stricter', NO_SERVICE),
  noSuchFile('4.1.2', 'Service file of the kubelet: owned by the user of the cluster', NO_SERVICE),
  ...fileChecks(['4.1.3', '4.1.4'], 'Kubeconfig of kube-proxy', {
    paths: kubeconfigs('kube-proxy.conf'),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks(['4.1.5', '4.1.6'], 'Kubeconfigs of kubelets', {
    paths: below('kubeconfig', (name) => name.startsWith('kubelet-')),
    mode: PRIVATE_FILE,
  }),
  ...fileChecks(['4.1.7', '4.1.8'], 'Client certificate authority of kubelets', {
    paths: ({ dataDirectory }) => [join(dataDirectory, 'pki', 'ca.crt')],
    mode: PUBLIC_FILE,
  }),
  noSuchFile('4.1.9', 'Configuration file of the kubelet: mode 600 or stricter', NO_CONFIG),
  noSuchFile('4.1.10', 'Configuration file of the kubelet: owned by the user of the cluster', NO_CONFIG),
];

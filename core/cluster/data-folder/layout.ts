import { join } from 'node:path';

/** Where a cluster keeps what it is, below its data folder. */
export const clusterFile = (data: string): string => join(data, 'cluster.yaml');
export const hostFolder = (data: string, host: string): string => join(data, 'hosts', host);
export const manifestsFolder = (data: string, host: string): string =>
  join(hostFolder(data, host), 'manifests');
export const etcdFolder = (data: string, host: string): string => join(hostFolder(data, host), 'etcd');
export const logsFolder = (data: string, host: string): string => join(hostFolder(data, host), 'logs');
export const backupsFolder = (data: string): string => join(data, 'backups');
export const adminKubeconfigFile = (data: string): string => join(data, 'kubeconfig', 'admin.conf');
export const superAdminKubeconfigFile = (data: string): string =>
  join(data, 'kubeconfig', 'super-admin.conf');
/** Reads everything but Secrets and writes nothing: for what the console does on its own. */
export const consoleKubeconfigFile = (data: string): string => join(data, 'kubeconfig', 'console.conf');
/** Reads what decides about connections of pods. */
export const networkPolicyKubeconfigFile = (data: string): string =>
  join(data, 'kubeconfig', 'network-policy.conf');
export const kubeletKubeconfigFile = (data: string, name: string): string =>
  join(data, 'kubeconfig', `kubelet-${name}.conf`);

/** Folders with keys or data in them are no one else's business. */
export const PRIVATE_FOLDER_MODE = 0o700;
export const addonsFile = (data: string): string => join(data, 'addons.json');

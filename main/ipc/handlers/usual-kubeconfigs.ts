import { readdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { ExecConfig } from '../../../core/client/index.ts';
import type { ExecPlugin, FoundKubeconfig } from '../../../core/contract/index.ts';
import { contextsOf, readKubeconfig } from './kubeconfig.ts';

/** Files of `~/.kube` that are looked at; the folder also holds caches. */
const FOLDER_FILES_MAX = 64;
/** k3s, kubeadm and MicroK8s write these. */
const SYSTEM_FILES = [
  '/etc/rancher/k3s/k3s.yaml',
  '/etc/kubernetes/admin.conf',
  '/var/snap/microk8s/current/credentials/client.config',
];
const LOOKS_LIKE_KUBECONFIG = /^config$|\.(?:ya?ml|conf|config|kubeconfig)$/;

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The paths where kubectl and installers keep kubeconfigs, most specific first. */
export const usualPlaces = async ({ env, home }: Surroundings): Promise<string[]> => {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => isAbsolute(path));
  const folder = join(home, '.kube');
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const inFolder = entries
    .filter((entry) => entry.isFile() && LOOKS_LIKE_KUBECONFIG.test(entry.name))
    .slice(0, FOLDER_FILES_MAX)
    .map(({ name }) => join(folder, name))
    .sort();
  return [...new Set([...named, ...inFolder, ...SYSTEM_FILES])];
};

/** Those of the usual places that can be read and have a context. Nothing in them is run or connected to. */
export const findKubeconfigs = async (
  surroundings: Surroundings,
  { isKnown, pluginOf }: { isKnown(path: string): boolean; pluginOf(exec: ExecConfig): ExecPlugin },
): Promise<FoundKubeconfig[]> => {
  const found: FoundKubeconfig[] = [];
  for (const path of await usualPlaces(surroundings)) {
    if (isKnown(path)) continue;
    const text = await readKubeconfig(path).catch(() => undefined);
    if (text === undefined) continue;
    const { clusters } = contextsOf(path, text, pluginOf);
    if (clusters.length > 0)
      found.push({ path, contexts: clusters.map(({ name, server }) => ({ name, server })) });
  }
  return found;
};

import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { DATA_VARIABLE } from '../manifests/static-pod.ts';
import { commandOf, flagOf } from './in-flight-limits.ts';

/** The value of a flag that names a file, with the data directory filled in. */
export const fileFlagOf = (data: string, command: readonly string[], name: string): string | undefined =>
  flagOf(command, name)?.replaceAll(`$(${DATA_VARIABLE})`, data);

/** The encryption configuration of the API servers, as the manifest of the first says; all of a cluster are alike. */
export const encryptionFileOf = async (data: string, config: ClusterConfig): Promise<string | undefined> => {
  const host = planHosts(config).find(({ role }) => role === 'control-plane');
  if (!host) return undefined;
  return fileFlagOf(data, await commandOf(data, host.name, 'kube-apiserver'), 'encryption-provider-config');
};

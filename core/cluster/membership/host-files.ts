import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { ClusterConfig } from '../config/config.ts';
import type { HostPlan } from '../config/hosts.ts';
import { issueMissingLeaves, writeManifests } from '../data-folder/create.ts';
import { setManifestAside } from '../data-folder/manifest-aside.ts';
import { hostFolder, kubeletKubeconfigFile } from '../data-folder/layout.ts';
import { initialMembers } from '../manifests/control-plane.ts';

/** Everything of a host: keys are not kept for one that is gone, and data of a removed member is of no use. */
export const deleteHostFiles = async (data: string, host: string): Promise<void> => {
  await rm(hostFolder(data, host), { recursive: true, force: true });
  await rm(join(data, 'pki', 'hosts', host), { recursive: true, force: true });
  await rm(kubeletKubeconfigFile(data, host), { force: true });
};

/** Certificates and manifests of a host that joins members which are there. */
export const makeHostFiles = async (
  data: string,
  config: ClusterConfig,
  host: HostPlan,
  clock: Clock,
): Promise<void> => {
  await deleteHostFiles(data, host.name);
  await issueMissingLeaves(data, config, clock);
  await writeManifests(data, config, host, { members: initialMembers(config), state: 'existing' });
  // A learner answers no API server; it is put back when the member votes.
  if (host.role === 'control-plane') await setManifestAside(data, host.name, 'kube-apiserver');
};

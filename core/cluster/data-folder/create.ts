import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { say, SaidError } from '../../contract/index.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import {
  AUTHORITIES,
  certificatePath,
  createClusterPki,
  issueLeaf,
  keyPath,
  kubeconfigPath,
  loadAuthority,
  planLeaves,
  readBundle,
  serverUrl,
  writeKubeconfig,
  type Authority,
  type AuthorityName,
  type ClusterPkiSpec,
  type LeafPlan,
} from '../../pki/index.ts';
import { listFiles, runBounded, writeCredential, writePrivate } from '../../pki/pki-folder.ts';
import { kubernetesServiceAddress, loadBalancerAddress } from '../config/addresses.ts';
import { formatClusterConfig, type ClusterConfig } from '../config/config.ts';
import { planHosts, possibleNodeNames, WORKERS_HOST, type HostPlan } from '../config/hosts.ts';
import { newEncryptionYaml } from './encryption-configuration.ts';
import { encryptionFileOf } from './configured-file.ts';
import { auditPolicyYaml } from '../manifests/audit-policy.ts';
import { AUTHENTICATION_CONFIG_FILE, authenticationConfigYaml } from '../manifests/authentication-config.ts';
import { initialMembers, manifestsOf, PORTS, type EtcdStart } from '../manifests/control-plane.ts';
import { AUDIT_POLICY_FILE, ENCRYPTION_CONFIG_FILE } from '../manifests/guard-files.ts';
import {
  clusterFile,
  etcdFolder,
  hostFolder,
  logsFolder,
  manifestsFolder,
  PRIVATE_FOLDER_MODE,
} from './layout.ts';

/** Whom the certificates of this cluster are for. */
export const pkiSpecOf = (config: ClusterConfig): ClusterPkiSpec => {
  const hosts = planHosts(config);
  const plan = { network: config.spec.network };
  const named = ({ name, address }: { name: string; address: string }) => ({ name, addresses: [address] });
  const workers = hosts.find(({ role }) => role === 'workers');
  return {
    clusterName: config.metadata.name,
    controlPlanes: hosts.filter(({ role }) => role === 'control-plane').map(named),
    etcdMembers: hosts.flatMap(({ etcd }) => (etcd ? [named(etcd)] : [])),
    nodes: hosts.flatMap(({ nodes }) => nodes.map(named)),
    ...(workers && {
      sharedKubelet: {
        name: workers.name,
        addresses: workers.nodes.map(({ address }) => address),
        nodes: workers.nodes.map(({ name }) => name),
      },
    }),
    endpoint: { host: loadBalancerAddress(plan), port: PORTS.apiServer },
    serviceAddress: kubernetesServiceAddress(config.spec),
    ...(config.spec.advertiseAddress !== undefined && {
      extraApiServerNames: [config.spec.advertiseAddress],
    }),
  };
};

const isThere = (data: string, { target }: LeafPlan): boolean =>
  target.kind === 'files'
    ? existsSync(certificatePath(data, target.base)) && existsSync(keyPath(data, target.base))
    : existsSync(kubeconfigPath(data, target.file));

/** Issues the certificates of hosts that came later. Those that are there stay. */
export const issueMissingLeaves = async (
  data: string,
  config: ClusterConfig,
  clock: Clock,
): Promise<void> => {
  const spec = pkiSpecOf(config);
  const missing = planLeaves(spec).filter((plan) => !isThere(data, plan));
  if (missing.length === 0) return;
  const authorityPem = await readBundle(data, 'kubernetes');
  const authorities = new Map<AuthorityName, Authority>();
  for (const name of new Set(missing.map(({ authority }) => authority)))
    authorities.set(name, await loadAuthority(data, name));
  await runBounded(
    missing.map(({ target, authority, subject, usages, alternativeNames }) => async () => {
      const request = { subject, usages, alternativeNames, clock };
      const credential = issueLeaf(authorities.get(authority)!, request);
      if (target.kind === 'files') return writeCredential(data, target.base, credential);
      const { clusterName } = spec;
      const [server, userName] = [serverUrl(spec), subject.commonName];
      const text = writeKubeconfig({ clusterName, server, authorityPem, userName, credential });
      return writePrivate(kubeconfigPath(data, target.file), text);
    }),
  );
};

/** The serving certificate of the workers names them all, so it is of no use once there are others. */
export const forgetSharedServing = async (data: string): Promise<void> => {
  const base = `hosts/${WORKERS_HOST}/kubelet`;
  await rm(certificatePath(data, base), { force: true });
  await rm(keyPath(data, base), { force: true });
};

/**
 * Identities of kubelets that are not in the plan: the one that all workers shared in earlier releases, and those of
 * workers that are gone. An identity that no one uses is one more to be stolen.
 */
export const forgetStrayKubelets = async (data: string, config: ClusterConfig): Promise<void> => {
  const planned = new Set(planHosts(config).flatMap(({ nodes }) => nodes.map(({ name }) => name)));
  const isStray = (file: string): boolean => {
    const node = /^kubelet-(workers|worker-\d+)\.conf$/.exec(file)?.[1];
    return node !== undefined && !planned.has(node);
  };
  const files = await listFiles(join(data, 'kubeconfig'), '.conf');
  await Promise.all(files.filter(isStray).map((file) => rm(kubeconfigPath(data, file), { force: true })));
};

const hasMemberData = (data: string, hosts: readonly HostPlan[]): boolean =>
  hosts.some(({ name }) => existsSync(join(etcdFolder(data, name), 'member')));

/** Authorities are made once. With data behind them a lost one is a damage to be told, not to be papered over. */
const ensurePki = async (data: string, config: ClusterConfig, clock: Clock): Promise<void> => {
  const missing = Object.values(AUTHORITIES).filter(({ base }) => !existsSync(certificatePath(data, base)));
  if (missing.length === 0) return issueMissingLeaves(data, config, clock);
  if (hasMemberData(data, planHosts(config)))
    throw new SaidError(
      'AuthorityLost',
      say('pki.missing', {
        file: certificatePath(data, missing[0]!.base),
        remedy: say('pki.remedy.restore'),
      }),
    );
  for (const { base } of Object.values(AUTHORITIES)) await rm(certificatePath(data, base), { force: true });
  await createClusterPki(pkiSpecOf(config), data, clock);
};

/** The folder appears with all its files or not at all: a deleted manifest then stays deleted. */
export const writeManifests = async (
  data: string,
  config: ClusterConfig,
  host: HostPlan,
  etcd: EtcdStart,
): Promise<void> => {
  await mkdir(logsFolder(data, host.name), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const folder = manifestsFolder(data, host.name);
  if (existsSync(folder)) return;
  const draft = join(hostFolder(data, host.name), '.manifests');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: PRIVATE_FOLDER_MODE });
  const guards = {
    isEncrypted: existsSync(join(data, ENCRYPTION_CONFIG_FILE)),
    isAudited: existsSync(join(data, AUDIT_POLICY_FILE)),
  };
  const manifests = manifestsOf({ config, host, version: config.spec.kubernetesVersion, etcd, guards });
  for (const [file, text] of manifests) await writeFile(join(draft, file), text, { mode: 0o600 });
  await rename(draft, folder);
};

/** Once: what an operator changed in it stays. */
const writeAuthenticationConfig = async (data: string): Promise<void> => {
  const file = join(data, AUTHENTICATION_CONFIG_FILE);
  if (!existsSync(file)) await writeFileAtomically(file, authenticationConfigYaml());
};

/** API servers that were told of the file could read no Secret without it. */
const assertEncryptionKeys = async (data: string, config: ClusterConfig): Promise<void> => {
  const file = join(data, ENCRYPTION_CONFIG_FILE);
  if (existsSync(file) || (await encryptionFileOf(data, config)) !== file) return;
  throw new SaidError('KeyLost', say('encryption.keyLost', { file }));
};

/**
 * For new clusters alone: values that API servers of an older one have stored are plain, and a lost file must not be
 * replaced by another key.
 */
const writeGuardFiles = async (data: string, config: ClusterConfig, clock: Clock): Promise<void> => {
  if (planHosts(config).some(({ name }) => existsSync(manifestsFolder(data, name))))
    return assertEncryptionKeys(data, config);
  const texts = {
    [ENCRYPTION_CONFIG_FILE]: () => newEncryptionYaml(clock.nowMs()),
    [AUDIT_POLICY_FILE]: () => auditPolicyYaml(possibleNodeNames(config)),
  };
  for (const [name, text] of Object.entries(texts))
    if (!existsSync(join(data, name))) await writeFileAtomically(join(data, name), text());
};

/** `cluster.yaml` is written first: it names the network that certificates and manifests are made for. */
export const writeClusterConfig = (data: string, config: ClusterConfig): Promise<void> =>
  writeFileAtomically(clusterFile(data), formatClusterConfig(config));

/** Makes what is missing below the folder. Can be cut off at any moment and done again. */
export const completeDataFolder = async (
  data: string,
  config: ClusterConfig,
  clock: Clock,
): Promise<void> => {
  await forgetStrayKubelets(data, config);
  await ensurePki(data, config, clock);
  await writeAuthenticationConfig(data);
  await writeGuardFiles(data, config, clock);
  await Promise.all(
    planHosts(config).map((host) =>
      writeManifests(data, config, host, { members: initialMembers(config), state: 'new' }),
    ),
  );
};

/** Something else's folder is not filled with keys. */
export const assertUsable = async (data: string): Promise<void> => {
  const entries = (await readdir(data)).filter((name) => !name.startsWith('.'));
  const foreign = entries.filter((name) => !['serve', 'logs', 'settings.json'].includes(name));
  if (existsSync(clusterFile(data)) || !foreign.includes('pki')) return;
  throw new SaidError('NoCluster', say('directory.onlyPki', { directory: data }));
};

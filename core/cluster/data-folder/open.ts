import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { say, SaidError, type Said } from '../../contract/index.ts';
import { lockDirectory } from '../../base/node/directory-lock.ts';
import {
  CLUSTER_API_VERSION,
  defaultSpec,
  parseClusterConfig,
  type ClusterConfig,
  type ClusterSpec,
} from '../config/config.ts';
import { readdress } from './advertise.ts';
import { assertServiceAccountKey, lookAtPki } from './look-at-pki.ts';
import { assertUsable, completeDataFolder, forgetSharedServing, writeClusterConfig } from './create.ts';
import { assertKnownFormat, migrateFormat, recordNewFormat } from './format.ts';
import { clusterFile } from './layout.ts';
import { findNetwork } from './network.ts';

/** What the command line asked for; the rest is the default, or what the folder says. */
export type SpecWishes = Partial<Omit<ClusterSpec, 'externalEtcd'>> & Pick<ClusterSpec, 'externalEtcd'>;

export interface DataFolder {
  readonly directory: string;
  readonly config: ClusterConfig;
  /** True when this call made the cluster. */
  readonly isNew: boolean;
  /** The backup of a folder that was brought to the format of this version by this call. */
  readonly migratedFrom?: string;
  readonly lock: Disposable;
}

/** The cluster that a folder holds; undefined when it holds none. */
export const readCluster = async (directory: string): Promise<ClusterConfig | undefined> => {
  let text: string;
  try {
    text = await readFile(clusterFile(directory), 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const what = say('failure.cannotRead', { path: clusterFile(directory), why: messageOf(cause) });
    throw new SaidError('BadDirectory', what, { cause });
  }
  await assertKnownFormat(directory);
  return parseClusterConfig(text, clusterFile(directory));
};

/** The cluster that a folder holds, or one line that there is none. */
export const requireCluster = async (directory: string): Promise<ClusterConfig> => {
  const config = await readCluster(directory);
  if (config) return config;
  throw new SaidError('NoCluster', say('directory.noCluster', { directory }));
};

/** Where the members follow from something else, a number of their own would be believed and ignored. */
const assertMembersCount = (
  wishes: SpecWishes,
  { topology, controlPlanes, externalEtcd }: ClusterSpec,
): void => {
  const { etcdMembers } = wishes;
  if (etcdMembers === undefined) return;
  if (externalEtcd) throw new SaidError('Contradiction', say('directory.flag.externalMembers'));
  if (topology === 'stacked' && etcdMembers !== controlPlanes)
    throw new SaidError(
      'Contradiction',
      say('directory.flag.stackedMembers', { members: etcdMembers, count: controlPlanes }),
    );
};

const newCluster = async (directory: string, wishes: SpecWishes, name: string): Promise<ClusterConfig> => {
  const { advertiseAddress, ...others } = wishes;
  const spec: ClusterSpec = {
    ...defaultSpec(wishes.network ?? (await findNetwork(directory))),
    ...others,
    ...(advertiseAddress !== undefined && advertiseAddress !== NO_ADDRESS && { advertiseAddress }),
  };
  assertMembersCount(wishes, spec);
  const members = spec.externalEtcd ? 0 : spec.topology === 'stacked' ? spec.controlPlanes : spec.etcdMembers;
  const config: ClusterConfig = {
    apiVersion: CLUSTER_API_VERSION,
    kind: 'Cluster',
    metadata: { name },
    spec: { ...spec, etcdMembers: members },
  };
  // What was wished for is held to the same rules as what a person wrote.
  return parseClusterConfig(JSON.stringify(config), 'the command line');
};

/** What a running cluster can be given at its next start; the rest is changed by commands of its own. */
const CHANGEABLE: readonly (keyof ClusterSpec)[] = [
  'workers',
  'containerRuntimeEndpoints',
  'advertiseAddress',
];
/** Takes an address back, so that nothing listens beyond loopback. */
export const NO_ADDRESS = 'none';
const FLAGS: Partial<Record<keyof ClusterSpec, string>> = {
  controlPlanes: '--control-planes',
  etcdMembers: '--etcd-members',
  kubernetesVersion: '--kubernetes-version',
  topology: '--topology',
  network: '--network',
  runtime: '--runtime',
  externalEtcd: '--external-etcd',
  purpose: '--drills',
};

const withWishes = (directory: string, config: ClusterConfig, wishes: SpecWishes): ClusterConfig => {
  const spec = { ...config.spec } as Record<string, unknown>;
  for (const [name, wish] of Object.entries(wishes)) {
    if (wish === undefined || JSON.stringify(spec[name]) === JSON.stringify(wish)) continue;
    const key = name as keyof ClusterSpec;
    if (!CHANGEABLE.includes(key))
      throw new SaidError(
        'Contradiction',
        say('directory.flag', { directory, flag: FLAGS[key] ?? key, value: JSON.stringify(spec[name]) }),
      );
    spec[name] = wish;
  }
  if (spec['advertiseAddress'] === NO_ADDRESS) delete spec['advertiseAddress'];
  return parseClusterConfig(JSON.stringify({ ...config, spec }), clusterFile(directory));
};

/**
 * Locks the folder and makes it a whole cluster: a new one from the wishes, or the one that is there. The caller
 * disposes the lock when nothing runs any more.
 */
export const openDataFolder = async (
  directory: string,
  wishes: SpecWishes,
  clock: Clock,
  nameOfNew = 'pilothouse',
): Promise<DataFolder> => {
  const lock = await lockDirectory(directory).catch((error: unknown) => {
    throw explain(directory, error);
  });
  try {
    await assertUsable(directory);
    const found = await readCluster(directory);
    const migratedFrom = found && (await migrateFormat(directory, clock));
    const config = found
      ? withWishes(directory, found, wishes)
      : await newCluster(directory, wishes, nameOfNew);
    if (!found) await recordNewFormat(directory);
    // Reissued with the addresses of all nodes.
    if (found && found.spec.workers !== config.spec.workers) await forgetSharedServing(directory);
    if (JSON.stringify(config) !== JSON.stringify(found)) await writeClusterConfig(directory, config);
    if (found) await lookAtPki(directory, config);
    await completeDataFolder(directory, config, clock);
    await readdress(directory, config, clock);
    await assertServiceAccountKey(directory);
    return {
      directory,
      config,
      isNew: found === undefined,
      ...(migratedFrom !== undefined && { migratedFrom }),
      lock,
    };
  } catch (error) {
    lock.dispose();
    throw explain(directory, error);
  }
};

const DISK: Readonly<Record<string, Said>> = {
  ENOSPC: say('directory.diskFull'),
  EDQUOT: say('directory.quota'),
  EROFS: say('directory.readOnly'),
  EACCES: say('directory.denied'),
  EPERM: say('directory.denied'),
};

/** Failures of the disk in words that say what to do. */
export const explain = (directory: string, error: unknown): unknown => {
  const isTold = error instanceof ReasonError && error.reason !== 'BadDirectory';
  const failure = (error instanceof ReasonError ? error.cause : error) as NodeJS.ErrnoException | undefined;
  const why = DISK[failure?.code ?? ''];
  if (why === undefined || isTold) return error;
  return new SaidError('BadDirectory', say('directory.unusable', { directory, why }), { cause: error });
};

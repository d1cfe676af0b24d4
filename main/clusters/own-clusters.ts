import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { adminKubeconfigFile, clusterFile } from '../../core/cluster/data-folder/layout.ts';
import type { ClusterEntry, ClusterList } from '../../core/contract/index.ts';
import { endpointOf } from './cluster-state.ts';
import type { HostedCluster } from './hosted-cluster.ts';
import type { HostedClusters } from './hosted-clusters.ts';

/** As `createClusterPki` names the administrator. */
const ADMIN = 'kubernetes-admin';

/** As many as a line has room for. */
const IMPAIRED_MAX = 16;

/** What is down while the cluster as a whole runs: hosts, and components by the names of their pods. */
const impairedOf = (cluster: HostedCluster): readonly string[] =>
  cluster.phase !== 'ready'
    ? []
    : cluster
        .state()
        .hosts.flatMap(({ name, phase, components }) =>
          phase === 'running'
            ? components.filter((each) => each.phase !== 'ready').map((each) => `${each.name}-${name}`)
            : [name],
        )
        .slice(0, IMPAIRED_MAX);

const localOf = (cluster: HostedCluster): NonNullable<ClusterEntry['local']> => {
  const { directory, phase, config } = cluster;
  const impaired = impairedOf(cluster);
  return {
    directory,
    phase,
    kubernetesVersion: config.spec.kubernetesVersion,
    ...(impaired.length > 0 && { impaired: [...impaired] }),
    ...(config.spec.purpose === 'drills' && { isForDrills: true as const }),
  };
};

const entryOf = (cluster: HostedCluster): ClusterEntry => {
  const { directory, config } = cluster;
  return {
    id: directory,
    name: config.metadata.name,
    origin: 'local',
    server: endpointOf(config),
    user: ADMIN,
    namespace: 'default',
    kubeconfigPath: adminKubeconfigFile(directory),
    readOnly: false,
    local: localOf(cluster),
  };
};

/** The clusters of the console's own, which are listed before those of kubeconfig files. */
export interface OwnClusters {
  list(): ClusterList;
  /** Held only while the list is shown. */
  onChange(listener: () => void): Disposable;
  /** Takes in the cluster whose own kubeconfig this is; false where it is no one's of ours. */
  attach(kubeconfigPath: string): Promise<boolean>;
  /** Also of one that is listed as a problem. */
  has(id: string): boolean;
  /** Leaves its folder as it is. */
  forget(id: string): Promise<void>;
}

/** The clusters of this console's own as entries of its list. */
export const ownClusters = (hosted: HostedClusters): OwnClusters => ({
  list: () => ({ clusters: hosted.list().map(entryOf), problems: [...hosted.problems] }),
  onChange(listener) {
    const store = new DisposableStore();
    store.add(hosted.onChange(listener));
    store.add(hosted.lookElsewhere());
    return store;
  },
  async attach(kubeconfigPath) {
    const directory = dirname(dirname(kubeconfigPath));
    if (kubeconfigPath !== adminKubeconfigFile(directory) || !existsSync(clusterFile(directory)))
      return false;
    await hosted.attach(directory);
    return true;
  },
  has: (id) => hosted.find(id) !== undefined || hosted.problems.some(({ path }) => path === id),
  forget: (id) => hosted.forget(id),
});

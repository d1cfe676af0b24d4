import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import { etcdAccessOf, type EtcdAccess } from '../../../core/cluster/etcd-operator/operations.ts';

/** The members of the cluster in a data folder. */
export const etcdOf = async (dataDirectory: string): Promise<EtcdAccess> =>
  etcdAccessOf(dataDirectory, await requireCluster(dataDirectory));

const MIB = 1024 * 1024;
export const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

import { hasReason } from '../../core/base/errors.ts';
import type { EtcdAccess } from '../../core/cluster/etcd-operator/operations.ts';
import { ContractError, type Handlers, saidOf } from '../../core/contract/index.ts';
import type { LocalRecord } from './local-records.ts';

/** Loaded when first asked for. */
const load = () => import('../../core/cluster/etcd-operator/inspect.ts');
const loadAccess = () => import('../../core/cluster/etcd-operator/operations.ts');

/** What is read of etcd on request: hashes, locks, users. */
export const etcdInspection = (
  recordOf: (cluster: string) => LocalRecord,
): Pick<Handlers, 'etcd.hashes' | 'etcd.locks' | 'etcd.auth'> => {
  const ask = async <T>(cluster: string, read: (access: EtcdAccess) => Promise<T>): Promise<T> => {
    const { directory, config } = recordOf(cluster).cluster;
    const { etcdAccessOf } = await loadAccess();
    try {
      return await read(etcdAccessOf(directory, config));
    } catch (error) {
      if (hasReason(error, 'EtcdUnreachable'))
        throw new ContractError('Unavailable', saidOf(error), { cause: error });
      throw error;
    }
  };
  return {
    'etcd.hashes': async ({ cluster }) => {
      const { members, ...rest } = await ask(cluster, (await load()).compareHashes);
      return { ...rest, members: [...members] };
    },
    'etcd.locks': async ({ cluster }) =>
      (await ask(cluster, (await load()).readLocks)).map((line) => ({ ...line, claims: [...line.claims] })),
    'etcd.auth': async ({ cluster }) => {
      const { users, roles, ...rest } = await ask(cluster, (await load()).readAuth);
      return {
        ...rest,
        users: users.map(({ name, roles: held }) => ({ name, roles: [...held] })),
        roles: roles.map(({ name, permissions }) => ({ name, permissions: [...permissions] })),
      };
    },
  };
};

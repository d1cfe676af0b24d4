import type { RequestTrace } from '../../core/apiserver/server/trace.ts';
import { LEASE, type Client } from '../../core/client/index.ts';
import type { ManagerName, Managers } from './managers.ts';

const READS = new Set(['get', 'list', 'watch']);

const isOf = (name: ManagerName, user: string): boolean =>
  name === 'kube-scheduler'
    ? user === 'system:kube-scheduler'
    : user === 'system:kube-controller-manager' ||
      /^system:serviceaccount:kube-system:.*-(controller|publisher|binder|collector)$/.test(user);

/** A change that a replica asked for; standing for the lease is none, nor is an event, which tells of what was done. */
export interface Act {
  readonly index: number;
  readonly atMs: number;
  readonly path: string;
  readonly code: number;
}

const isAct = (name: ManagerName, { user, verb, path }: RequestTrace): boolean =>
  isOf(name, user) && !READS.has(verb) && !/\/(leases|events)(\/|$)/.test(path);

/** All that the replicas of a manager did, in order; each is told by the API server that only it speaks to. */
export const actsOf = async (managers: Managers, name: ManagerName): Promise<Act[]> => {
  const acts: Act[] = [];
  for (const index of managers.plane.apiServers.keys())
    for (const trace of await managers.traces(index))
      if (isAct(name, trace))
        acts.push({ index, atMs: trace.startedAtMs, path: trace.path, code: trace.code });
  return acts.sort((a, b) => a.atMs - b.atMs);
};

export interface Tenure {
  readonly identity: string;
  readonly fromMs: number;
}

/** Who has held the lease of a manager, from now on, as a watch tells it. */
export const watchTenures = async (
  client: Client,
  name: ManagerName,
): Promise<{ readonly tenures: readonly Tenure[]; stop(): void }> => {
  const tenures: Tenure[] = [];
  const watch = await client
    .resource(LEASE, 'kube-system')
    .watch({ fieldSelector: `metadata.name=${name}`, timeoutSeconds: 600 });
  void (async () => {
    for await (const { object } of watch) {
      const { holderIdentity: identity, acquireTime } = object.spec ?? {};
      if (identity && identity !== tenures.at(-1)?.identity)
        tenures.push({ identity, fromMs: Date.parse(acquireTime!) });
    }
  })().catch(() => undefined);
  return { tenures, stop: () => watch.dispose() };
};

export interface ActOutOfTurn extends Act {
  /** Who led last among those that spoke to this API server, and so the only one that can have asked for it. */
  readonly identity: string | undefined;
}

/**
 * Acts that a replica did not hold the lease for when the API server began with them: another had taken it, or none
 * had it yet.
 */
export const actsOutOfTurn = (
  acts: readonly Act[],
  tenures: readonly Tenure[],
  indexOf: (identity: string) => number | undefined,
): ActOutOfTurn[] =>
  acts.flatMap((act) => {
    const begun = tenures.filter(({ fromMs }) => fromMs <= act.atMs);
    const isOfServer = ({ identity }: Tenure): boolean => indexOf(identity) === act.index;
    const holder = begun.at(-1);
    if (holder && isOfServer(holder)) return [];
    return [{ ...act, identity: begun.findLast(isOfServer)?.identity }];
  });

/** Of 409 and its like the cluster knows nothing. */
export const tookEffect = ({ code }: Act): boolean => code < 400;

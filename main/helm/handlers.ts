import type { Clock } from '../../core/base/clock.ts';
import { describeRelease, listReleases, rollback, uninstall } from '../../core/cluster/helm/index.ts';
import type { Handlers } from '../../core/contract/index.ts';
import { guarded } from '../clusters/failure.ts';
import type { ClusterConnection, Connections } from '../kube/connections.ts';
import { kubeFailure } from '../kube/failure.ts';

const asked = <T>(work: () => Promise<T>): Promise<T> =>
  guarded(work).catch((error: unknown) => {
    throw kubeFailure(error);
  });

export interface HelmDependencies {
  readonly clock: Clock;
  readonly connections: Pick<Connections, 'open' | 'openForWriting'>;
}

/** Helm releases of any cluster, with the identity of the person: they are Secrets. */
export const createHelmHandlers = ({ clock, connections }: HelmDependencies): Handlers => {
  const resourcesOf = async (connection: ClusterConnection) => (await connection.discovery()).resources;
  return {
    'helm.releases': ({ cluster }) =>
      asked(async () => {
        const { client, listScope } = await connections.open(cluster);
        // A user of one namespace has releases, too.
        const namespace = (await listScope({ group: '', plural: 'secrets' })) ?? '';
        const { releases, isCut } = await listReleases(client, namespace);
        return { releases: [...releases], isCut };
      }),
    'helm.release': ({ cluster, ...query }) =>
      asked(async () => {
        const connection = await connections.open(cluster);
        return describeRelease(connection.client, await resourcesOf(connection), query);
      }),
    'helm.change': ({ cluster, namespace, name, rollbackTo, dryRun }) =>
      asked(async () => {
        const connection = await (dryRun ? connections.open : connections.openForWriting)(cluster);
        const context = {
          client: connection.client,
          resources: () => resourcesOf(connection),
          nowMs: () => clock.nowMs(),
          dryRun,
        };
        return rollbackTo === null
          ? uninstall(context, { namespace, name })
          : rollback(context, { namespace, name }, rollbackTo);
      }),
  };
};

import type { Clock } from '../../core/base/clock.ts';
import type { Random } from '../../core/base/random.ts';
import type { Handlers } from '../../core/contract/index.ts';
import type { LocalClusters } from '../clusters/local-clusters.ts';
import type { Connections } from '../kube/connections.ts';
import { kubeFailure } from '../kube/failure.ts';
import { watchGraph } from './watch-graph.ts';

export interface GraphHandlerDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly localClusters: LocalClusters;
  readonly connections: Pick<Connections, 'open'>;
}

export const createGraphHandlers = ({
  clock,
  random,
  localClusters,
  connections,
}: GraphHandlerDependencies): Handlers => ({
  'graph.watch': async function* ({ cluster, ...query }, signal) {
    try {
      const { client } = await connections.open(cluster);
      const local = localClusters.find(cluster);
      for await (const view of watchGraph(query, { client, clock, random, local }, signal)) yield [view];
    } catch (error) {
      throw kubeFailure(error);
    }
  },
});

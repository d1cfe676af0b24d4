import type { V1Pod } from '../../core/api/schema/index.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { Random } from '../../core/base/random.ts';
import { pause, type Client } from '../../core/client/index.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import { ContractError, say, type GraphQuery, type GraphView } from '../../core/contract/index.ts';
import { buildGraph, GRAPH_KINDS, idOf, isGraphKind, isUnplaced } from '../../core/graph/index.ts';
import { LiveObjects } from './live-objects.ts';
import { placedPods, recentDenials, remembered } from './surroundings.ts';

/** Objects change in bursts; a picture need not be drawn more often. */
const BURST_INTERVAL_MS = 500;

export interface GraphDependencies {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** The cluster's data directory where it is one of this console: its audit log is read. */
  readonly local?: { readonly directory: string; readonly config: ClusterConfig } | undefined;
}

const focusOf = ({ kind, name, namespace }: Omit<GraphQuery, 'cluster'>): string | undefined => {
  if (kind === '') return undefined;
  return idOf(kind, isGraphKind(kind) && !GRAPH_KINDS[kind].namespaced ? '' : namespace, name);
};

/** The graph now, and again after changes. Fails with `NotFound` while there is no such object. */
export async function* watchGraph(
  query: Omit<GraphQuery, 'cluster'>,
  { client, clock, random, local }: GraphDependencies,
  signal: AbortSignal,
): AsyncGenerator<GraphView, void, void> {
  let isChanged = true;
  let wake = (): void => undefined;
  const live = new LiveObjects({
    client,
    clock,
    random,
    namespace: query.namespace,
    onChange: () => {
      isChanged = true;
      wake();
    },
  });
  const capacity = remembered(clock, () => placedPods(client));
  const denied = remembered(clock, async () =>
    local === undefined ? undefined : recentDenials(local, query.namespace, clock.nowMs()),
  );
  const onAbort = (): void => {
    live.dispose();
    wake();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await live.settled;
    if (live.failure) throw live.failure;
    while (!signal.aborted) {
      if (!isChanged) await new Promise<void>((resolve) => (wake = resolve));
      if (signal.aborted) return;
      isChanged = false;
      const objects = live.list();
      const needsCapacity = (objects.get('Pod') ?? []).some((pod) => isUnplaced(pod as unknown as V1Pod));
      const [placed, denials] = await Promise.all([needsCapacity ? capacity() : undefined, denied()]);
      const graph = buildGraph(
        { objects, unread: live.unread, placedPods: placed, denials: denials ?? [] },
        focusOf(query),
      );
      if (!graph)
        throw new ContractError(
          'NotFound',
          say('failure.graphObject', { kind: query.kind, name: query.name, namespace: query.namespace }),
        );
      yield {
        ...graph,
        isCut: graph.isCut || live.isCut,
        gaps: [
          ...live.gaps,
          ...(denials === undefined ? [say('graph.gap.audit')] : []),
          ...(needsCapacity && placed === undefined ? [say('graph.gap.capacity')] : []),
        ],
      };
      await pause(clock, BURST_INTERVAL_MS, signal).catch(() => undefined);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    live.dispose();
  }
}

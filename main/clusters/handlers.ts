import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import {
  ContractError,
  type ClusterAction,
  type ClusterEntry,
  type ClusterList,
  type Handlers,
  type Operation,
} from '../../core/contract/index.ts';
import type { NotificationHub } from '../ipc/handlers/notification-hub.ts';
import { clusterFailure } from './failure.ts';
import { followNewest } from './follow.ts';
import { requireSupervisor } from './hosted-cluster.ts';
import type { HostedClusters } from './hosted-clusters.ts';
import type { OperationRunner } from './operation-runner.ts';
import { commandOf } from './operations/command-line.ts';
import { OperationBooks } from './operations/operation-books.ts';

export interface LocalClusterHandlersOptions {
  readonly hosted: HostedClusters;
  readonly clusters: { list(): Promise<ClusterList> };
  readonly notifications: NotificationHub;
  readonly clock: Clock;
  /** Works on every cluster; absent where nothing drains. */
  readonly drainNode?: OperationRunner<'node.drain'>;
}

/** Those whose runners ask at checkpoints. */
const PAUSABLE: readonly ClusterAction['kind'][] = ['upgrade.apply', 'upgrade.rollback', 'node.drain'];

/** What the console asks about clusters of its own, and what it does to them. */
export const createLocalClusterHandlers = (
  options: LocalClusterHandlersOptions,
): Disposable & { readonly handlers: Handlers; readonly books: OperationBooks } => {
  const { hosted, clusters, notifications, clock } = options;

  const books = new OperationBooks(clock, (cluster, { state, message, command }: Operation) => {
    const name = hosted.find(cluster)?.name ?? cluster;
    notifications.post({
      severity: state === 'done' ? 'ok' : 'error',
      title: `${name}: ${message}`,
      detail: command,
    });
  });

  const entryOf = async (id: string): Promise<ClusterEntry> => {
    const entry = (await clusters.list()).clusters.find((known) => known.id === id);
    if (!entry) throw new ContractError('NotFound', `no cluster is known as ${id}`);
    return entry;
  };

  const runnerOf = (entry: ClusterEntry, action: ClusterAction) => {
    const { drainNode } = options;
    if (action.kind === 'node.drain') {
      if (!drainNode) throw new ContractError('Unimplemented', 'this host does not drain nodes');
      return (report: Parameters<typeof drainNode>[1]['report'], signal: AbortSignal) =>
        drainNode(action, { cluster: entry.id, report, signal });
    }
    const supervisor = requireSupervisor(hosted.require(entry.id));
    return async (report: Parameters<OperationRunner<'host.kill'>>[1]['report'], signal: AbortSignal) => {
      const { runLocalAction } = await import('./operations/run-action.ts');
      return runLocalAction(action, supervisor, report, signal);
    };
  };

  const act = async (id: string, action: ClusterAction): Promise<string> => {
    const entry = await entryOf(id);
    if (entry.readOnly)
      throw new ContractError(
        'Forbidden',
        `${entry.name} is read-only in this console; allow changes to it first`,
      );
    return books.of(id).begin({
      action,
      command: commandOf(action, { directory: id, kubeconfigPath: entry.kubeconfigPath }),
      canPause: PAUSABLE.includes(action.kind),
      run: runnerOf(entry, action),
    });
  };

  /** An operation that is cut off in the middle is no stop in order. */
  const assertIdle = (id: string): void => {
    const running = books.of(id).running;
    if (running?.state === 'running')
      throw new ContractError('Conflict', `"${running.command}" is under way; wait for its end`);
    books.of(id).abort('the cluster was stopped');
  };

  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw clusterFailure(error);
    }
  };

  const handlers: Handlers = {
    'clusters.defaults': async () => hosted.defaults(),
    'clusters.create': async (wishes) => ({ cluster: await hosted.create(wishes) }),
    'clusters.start': ({ cluster }) => guarded(() => hosted.start(cluster)) as Promise<undefined>,
    'clusters.stop': ({ cluster }) =>
      guarded(() => {
        hosted.require(cluster);
        assertIdle(cluster);
        return hosted.stop(cluster);
      }) as Promise<undefined>,
    'clusters.delete': ({ cluster }) =>
      guarded(async () => {
        hosted.require(cluster);
        assertIdle(cluster);
        await hosted.delete(cluster);
        books.close(cluster);
        return clusters.list();
      }),
    'cluster.state': (input, signal) => {
      const cluster = hosted.require(input.cluster);
      const source = {
        now: () => cluster.state(),
        onChange: (tell: Parameters<typeof cluster.onChange>[0]) => cluster.onChange(tell),
        gone: cluster.gone,
      };
      return followNewest(source, signal);
    },
    'cluster.act': async ({ cluster, action }) =>
      guarded(async () => ({ operation: await act(cluster, action) })),
    'cluster.operations': async function* (input, signal) {
      await entryOf(input.cluster);
      const book = books.of(input.cluster);
      yield* followNewest({ now: () => book.list(), onChange: (tell) => book.onChange(tell) }, signal);
    },
    'cluster.pauseOperation': async ({ cluster, operation, isPaused }) => {
      books.of(cluster).pause(operation, isPaused);
      return undefined;
    },
  };
  return { handlers, books, dispose: () => books.dispose() };
};

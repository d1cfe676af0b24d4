import { dirname, resolve } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import {
  actionCommand,
  ContractError,
  say,
  verbatim,
  type ClusterEntry,
  type ClusterList,
  type Handlers,
  type LocalClusterState,
  type Operation,
} from '../../core/contract/index.ts';
import type { NotificationHub } from '../state/notification-hub.ts';
import { beginAction, type DrainRunner } from './begin-action.ts';
import { watchBackups } from './backups.ts';
import { guarded } from './failure.ts';
import { followNewest } from './follow.ts';
import type { HostedClusters } from './hosted-clusters.ts';
import { OperationBooks } from './operations/operation-books.ts';

export interface LocalClusterHandlersOptions {
  readonly hosted: HostedClusters;
  readonly clusters: { list(): Promise<ClusterList> };
  readonly notifications: NotificationHub;
  readonly clock: Clock;
  readonly drain: DrainRunner;
  /** Snapshots outside `backups/` that a person has named. */
  readonly snapshots: { has(path: string): boolean };
}

/** What previews, plans and snapshots need of `core/cluster`, loaded when the first is asked for. */
const loadUpkeep = () => import('./upkeep.ts');

/** What the console asks about clusters of its own, and what it does to them. */
export const createLocalClusterHandlers = (
  options: LocalClusterHandlersOptions,
): Disposable & { readonly handlers: Handlers } => {
  const { hosted, clusters, notifications, clock, drain, snapshots } = options;

  const books = new OperationBooks(clock, (cluster, { state, message, command }: Operation) => {
    const name = hosted.find(cluster)?.name ?? cluster;
    notifications.post({
      severity: state === 'done' ? 'ok' : 'error',
      title: message ?? verbatim(command),
      detail: say('notice.operation', { cluster: name, command }),
    });
  });

  const exits = hosted.onHostExit(({ name, directory }, exit) => {
    const { host, cause, message, isGivenUp, runningHosts, totalHosts } = exit;
    const at = { cluster: name, host };
    if (cause === 'exited')
      notifications.post({
        severity: isGivenUp ? 'error' : 'warn',
        title: say('notice.host.exited', at),
        ...(message && { detail: say('notice.reason', { reason: message }) }),
      });
    else
      notifications.post({
        severity: 'warn',
        title: say('notice.host.killed', at),
        detail: say('notice.host.killed.detail', {
          running: runningHosts,
          total: totalHosts,
          command:
            actionCommand({ kind: 'host.start', host }, { directory, kubeconfigPath: undefined }) ?? '',
        }),
      });
  });

  const entryOf = async (id: string): Promise<ClusterEntry> => {
    const entry = (await clusters.list()).clusters.find((known) => known.id === id);
    if (!entry) throw new ContractError('NotFound', say('failure.noCluster', { id }));
    return entry;
  };
  const writableEntry = async (id: string): Promise<ClusterEntry> => {
    const entry = await entryOf(id);
    if (!entry.readOnly) return entry;
    throw new ContractError('Forbidden', say('failure.readOnly', { cluster: entry.name }));
  };

  /** A page speaks of files that are listed or that a person has named, and of no others. */
  const assertNamed = async (id: string, file: string): Promise<void> => {
    const own = hosted.require(id);
    const folders = await (await loadUpkeep()).snapshotFolders(own.directory);
    if (folders.includes(dirname(resolve(folders[0]!, file))) || snapshots.has(file)) return;
    throw new ContractError(
      'Forbidden',
      say('failure.snapshotNotChosen', { file, folder: folders.join(', ') }),
    );
  };

  /** An operation that is cut off in the middle is no stop in order. A paused one ends where it is. */
  const assertIdle = (id: string): void => {
    const book = books.of(id);
    if (book.running?.state === 'running')
      throw new ContractError('Conflict', say('failure.busy', { command: book.running.command }));
    book.abort(say('failure.clusterStopped'));
  };

  const handlers: Handlers = {
    'clusters.defaults': () => Promise.resolve(hosted.defaults()),
    'clusters.create': async (wishes) => ({ cluster: await hosted.create(wishes) }),
    'clusters.start': ({ cluster }) => guarded(() => hosted.start(cluster).then(() => undefined)),
    'clusters.stop': ({ cluster }) =>
      guarded(async () => {
        hosted.require(cluster);
        assertIdle(cluster);
        await hosted.stop(cluster);
        return undefined;
      }),
    'clusters.delete': ({ cluster }) =>
      guarded(async () => {
        hosted.require(cluster);
        assertIdle(cluster);
        await hosted.delete(cluster);
        books.close(cluster);
        return clusters.list();
      }),
    'cluster.state': async function* (input, signal) {
      const cluster = hosted.require(input.cluster);
      const looking = hosted.lookElsewhere();
      try {
        yield* followNewest<LocalClusterState>(
          { now: () => cluster.state(), onChange: (tell) => cluster.onChange(tell), gone: cluster.gone },
          signal,
        );
      } finally {
        looking.dispose();
      }
    },
    'cluster.preview': ({ cluster, action }) =>
      guarded(async () => {
        const { id } = await entryOf(cluster);
        const { preview, previewDrain } = await loadUpkeep();
        const own = hosted.find(id);
        if (own) return preview(own, action);
        if (action.kind !== 'node.drain') throw hosted.unknown(id);
        return previewDrain((await drain.connect(id)).client, action);
      }),
    'component.flagsDiff': ({ cluster, ...request }) =>
      guarded(async () => {
        const { directory, config } = hosted.require(cluster);
        const { flagsDiff } = await loadUpkeep();
        return flagsDiff(directory, config, request);
      }),
    'cluster.act': ({ cluster, action }) =>
      guarded(async () => {
        const entry = await writableEntry(cluster);
        if (action.kind === 'snapshot.restore') await assertNamed(cluster, action.file);
        return { operation: beginAction({ entry, action, book: books.of(cluster), hosted, drain }) };
      }),
    'cluster.operations': async function* (input, signal) {
      await entryOf(input.cluster);
      const book = books.of(input.cluster);
      yield* followNewest({ now: () => book.list(), onChange: (tell) => book.onChange(tell) }, signal);
    },
    'cluster.pauseOperation': async ({ cluster, operation, isPaused }) => {
      await writableEntry(cluster);
      books.of(cluster).pause(operation, isPaused);
      return undefined;
    },
    'backups.watch': ({ cluster: id }, signal) =>
      watchBackups(
        { cluster: hosted.require(id), operations: books.of(id), clock, load: loadUpkeep },
        signal,
      ),
    'backups.schedule': ({ cluster, schedule }) =>
      guarded(async () => {
        await writableEntry(cluster);
        return (await loadUpkeep()).setSchedule(hosted.require(cluster), schedule);
      }),
    'backups.compare': ({ cluster, file }) =>
      guarded(async () => {
        const own = hosted.require(cluster);
        await assertNamed(cluster, file);
        return (await loadUpkeep()).compare(own, file);
      }),
    'harden.plan': ({ cluster, wishes }) =>
      guarded(async () => {
        const { directory, config } = hosted.require(cluster);
        return (await loadUpkeep()).planHardening(directory, config, wishes);
      }),
    'upgrade.plan': ({ cluster, version }) =>
      guarded(async () => {
        const own = hosted.require(cluster);
        return (await loadUpkeep()).plan(own, version);
      }),
  };
  return {
    handlers,
    dispose() {
      exits.dispose();
      books.dispose();
    },
  };
};

import { dirname, resolve } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { hasReason } from '../../core/base/errors.ts';
import { listSnapshots } from '../../core/cluster/backup/list-backups.ts';
import { snapshotFolders } from '../../core/cluster/backup/schedule.ts';
import { etcdAccessOf, withAny } from '../../core/cluster/etcd-operator/operations.ts';
import {
  compareMoments,
  contentsOf,
  encryptionFilesOf,
  etcdSource,
  listObjects,
  openDecoder,
  prefixOf,
  REGISTRY,
  revisionsOf,
  sampleTimes,
  type Decoder,
  type Source,
} from '../../core/cluster/history/index.ts';
import {
  ContractError,
  HISTORY_ROWS_MAX,
  saidOf,
  say,
  type Handlers,
  type Moment,
} from '../../core/contract/index.ts';
import { guarded } from '../clusters/failure.ts';
import type { LocalClusters } from '../clusters/local-clusters.ts';
import type { Connections } from '../kube/connections.ts';
import { objectVersions } from './object-versions.ts';
import { createRestore } from './restore-stream.ts';
import { SnapshotShelf } from './snapshot-shelf.ts';

export interface HistoryDependencies {
  readonly clock: Clock;
  readonly localClusters: LocalClusters;
  readonly connections: Pick<Connections, 'open' | 'openForWriting'>;
  /** Snapshots outside the folders of a cluster that a person has named. */
  readonly snapshots: { has(path: string): boolean };
}

/** How handlers read a moment of a cluster: which files a page may name, and with which keys values are decrypted. */
const momentsOf = ({ clock, localClusters, snapshots }: HistoryDependencies, shelf: SnapshotShelf) => {
  const ownOf = (cluster: string) => {
    const own = localClusters.find(cluster);
    if (own) return own;
    throw new ContractError('Unimplemented', say('failure.history.foreign'));
  };

  /** A page speaks of files that are listed or that a person has named, and of no others. */
  const assertNamed = async (cluster: string, file: string): Promise<void> => {
    const own = localClusters.find(cluster);
    const folders = own ? await snapshotFolders(own.directory) : [];
    if (snapshots.has(file) || folders.includes(dirname(resolve(file)))) return;
    throw new ContractError(
      'Forbidden',
      say('failure.snapshotNotChosen', { file, folder: folders.join(', ') }),
    );
  };

  const atRevision = async <T>(
    cluster: string,
    revision: number | undefined,
    run: (source: Source) => Promise<T>,
  ): Promise<T> => {
    const own = ownOf(cluster);
    return withAny(etcdAccessOf(own.directory, own.config), async (member) => {
      try {
        return await run(await etcdSource(member, revision));
      } catch (error) {
        if (!hasReason(error, 'EtcdCompacted')) throw error;
        const { oldest, newest } = await revisionsOf(member);
        const values = { revision: revision ?? 0, oldest, newest };
        throw new ContractError('NotFound', say('failure.history.compacted', values), { cause: error });
      }
    });
  };

  const at = async <T>(cluster: string, moment: Moment, run: (source: Source) => Promise<T>): Promise<T> => {
    if (moment.kind === 'snapshot') {
      await assertNamed(cluster, moment.file);
      return shelf.use(resolve(moment.file), moment.revision, run);
    }
    return atRevision(cluster, moment.kind === 'now' ? undefined : moment.revision, run);
  };

  const withDecoder = async <T>(cluster: string, run: (decoder: Decoder) => Promise<T>): Promise<T> => {
    const own = localClusters.find(cluster);
    const decoder = await openDecoder(own ? await encryptionFilesOf(own.directory, own.config) : [], clock);
    try {
      return await run(decoder);
    } finally {
      decoder.dispose();
    }
  };

  return { ownOf, at, withDecoder };
};

export const createHistoryHandlers = (
  dependencies: HistoryDependencies,
): Disposable & { readonly handlers: Handlers } => {
  const { clock, localClusters, connections } = dependencies;
  const shelf = new SnapshotShelf(clock);
  const { ownOf, at, withDecoder } = momentsOf(dependencies, shelf);

  const handlers: Handlers = {
    'history.moments': ({ cluster }) =>
      guarded(async () => {
        const own = localClusters.find(cluster);
        const none = { oldest: 0, newest: 0, samples: [], snapshots: [] };
        if (!own) return { ...none, problem: say('failure.history.foreign') };
        const snapshots = [...(await listSnapshots(own.directory))];
        try {
          return await withDecoder(cluster, (decoder) =>
            withAny(etcdAccessOf(own.directory, own.config), async (member) => {
              const range = await revisionsOf(member);
              const samples = await sampleTimes(member, range, decoder);
              return { ...range, samples, snapshots, problem: null };
            }),
          );
        } catch (error) {
          // Snapshots can be read while etcd cannot.
          return { ...none, snapshots, problem: saidOf(error) };
        }
      }),
    'history.versions': ({ cluster, key }) =>
      guarded(async () => {
        const own = ownOf(cluster);
        return withDecoder(cluster, (decoder) =>
          withAny(etcdAccessOf(own.directory, own.config), (member) =>
            objectVersions({ cluster: own, member, decoder, shelf }, key),
          ),
        );
      }),
    'history.contents': ({ cluster, at: moment }) => guarded(() => at(cluster, moment, contentsOf)),
    'history.list': ({ cluster, at: moment, ...query }) =>
      guarded(() => at(cluster, moment, (source) => listObjects(source, query))),
    'history.object': ({ cluster, at: moment, key }) =>
      guarded(() =>
        at(cluster, moment, async (source) => {
          const stored = await source.read(key);
          const none = { exists: false, modRevision: 0, createRevision: 0, version: 0 };
          if (!stored) return { ...none, object: null, problem: null };
          const { modRevision, createRevision, version } = stored;
          const { object, problem } = await withDecoder(cluster, (decoder) => decoder.decode(stored));
          return {
            exists: true,
            modRevision,
            createRevision,
            version,
            object: (object as Record<string, unknown> | undefined) ?? null,
            problem: problem ?? null,
          };
        }),
      ),
    'history.compare': ({ cluster, from, to, resource, namespace }, signal) =>
      guarded(() =>
        at(cluster, from, (before) =>
          at(cluster, to, (after) =>
            withDecoder(cluster, async (decoder) => {
              const prefix = resource ? prefixOf(resource, namespace) : REGISTRY;
              const options = { prefix, objectsMax: HISTORY_ROWS_MAX, signal };
              const { objects, ...compared } = await compareMoments([before, after], decoder, options);
              const kept = objects.filter((one) => namespace === '' || one.namespace === namespace);
              return {
                ...compared,
                objects: [...kept],
                fromRevision: before.revision,
                toRevision: after.revision,
              };
            }),
          ),
        ),
      ),
    'history.restore': createRestore({ clock, connections, at, withDecoder }),
  };
  return { handlers, dispose: () => shelf.dispose() };
};

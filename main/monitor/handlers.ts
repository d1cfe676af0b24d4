import type { Clock } from '../../core/base/clock.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import type { Client } from '../../core/client/index.ts';
import { answerQuery } from '../../core/cluster/monitor/history/query.ts';
import {
  ContractError,
  type Handlers,
  type LeasesView,
  type MetricsHealth,
  say,
} from '../../core/contract/index.ts';
import type { LocalClusters } from '../clusters/local-clusters.ts';
import { Feed } from '../state/feed.ts';
import { kubeFailure } from '../kube/failure.ts';
import { etcdInspection } from './etcd-inspection.ts';
import { controllerHandlers } from './controller-handlers.ts';
import { guardHandlers } from './guard-handlers.ts';
import { LocalRecords, ownOnly, running, type LocalRecord } from './local-records.ts';
import { RemoteWatches, type RemoteWatch } from './remote-watches.ts';

export interface MonitorDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly localClusters: LocalClusters;
  /** As `main/kube` connects. */
  connect(clusterId: string): Promise<{ readonly client: Client }>;
}

const LEASES_PATH = '/apis/coordination.k8s.io/v1/leases';

/** Loaded when first asked for: the console is to be there before them. */
const loadTimeline = () => import('./timeline-stream.ts');
const loadXray = () => import('./xray.ts');
const loadAdmissionFigures = () => import('./admission-figures.ts');
const loadDoctor = () => import('../../core/cluster/doctor/doctor.ts');
const loadChecklist = () => import('../../core/cluster/checks/checklist.ts');
const loadCertificates = () => import('../../core/cluster/monitor/certificates/certificates.ts');

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function* remoteStream<T>(
  watches: RemoteWatches,
  cluster: string,
  signal: AbortSignal,
  follow: (
    watch: RemoteWatch,
    push: (item: T) => void,
  ) => Promise<{ readonly first: readonly T[]; readonly listening: Disposable }>,
): AsyncGenerator<T[], void, void> {
  const { watch, use } = await watches.use(cluster);
  const feed = new Feed<T>({ listenerItemsMax: 1 });
  try {
    const { first, listening } = await follow(watch, (item) => feed.publish(item));
    try {
      yield* feed.listen(AbortSignal.any([signal, watch.over]), first);
    } finally {
      listening.dispose();
    }
  } catch (error) {
    if (!signal.aborted) throw kubeFailure(error);
  } finally {
    use.dispose();
  }
}

/** What the console watches. Clusters of this console's own are recorded from now on. */
export const createMonitorHandlers = (
  dependencies: MonitorDependencies,
): Disposable & { readonly handlers: Handlers } => {
  const { clock, log, localClusters, connect } = dependencies;
  const owned = new DisposableStore();
  const local = owned.add(new LocalRecords(localClusters, { clock, log }));
  const remote = owned.add(new RemoteWatches({ connect, clock, log }));

  const recordOf = (cluster: string): LocalRecord => {
    const record = local.find(cluster);
    if (!record) throw ownOnly('inspection');
    return record;
  };
  const handlers: Handlers = {
    ...guardHandlers(local, connect),
    ...controllerHandlers(local, connect),
    'etcd.members': async function* ({ cluster }, signal) {
      const record = local.find(cluster);
      if (record) return yield* record.members(signal);
      const problem = say('failure.ownOnly.etcd');
      yield [{ atMs: clock.nowMs(), members: [], problem }];
      await untilAborted(signal);
    },
    'etcd.timeline': async function* ({ cluster }, signal) {
      const record = local.find(cluster);
      if (record) return yield* record.timeline(signal);
      yield [[]];
      await untilAborted(signal);
    },
    'timeline.watch': async function* ({ cluster }, signal) {
      const record = local.find(cluster);
      if (!record) throw ownOnly('timeline');
      const { timelineStream } = await loadTimeline();
      yield* timelineStream(record.cluster, clock, signal);
    },
    'leases.watch': async function* ({ cluster }, signal) {
      const record = local.find(cluster);
      if (record) return yield* record.leases(signal);
      yield* remoteStream<LeasesView>(remote, cluster, signal, async (watch, push) => {
        const leases = watch.leases();
        // Asked once on its own: a refusal is then told with its code, and what to do about it.
        await watch.client.json({ method: 'GET', path: LEASES_PATH, query: { limit: 1 }, signal });
        await leases.whenKnown(signal);
        return { first: [leases.view()], listening: leases.onView(push) };
      });
    },
    'metrics.query': async (query) => {
      if (query.toMs <= query.fromMs) throw new ContractError('BadRequest', say('failure.metricsRange'));
      const record = local.find(query.cluster);
      if (record) return answerQuery(record.histories, query);
      const { watch, use } = await remote.use(query.cluster);
      try {
        return await answerQuery(watch.histories, query);
      } finally {
        use.dispose();
      }
    },
    'metrics.health': async function* ({ cluster }, signal) {
      const record = local.find(cluster);
      if (record) return yield* record.health(signal);
      yield* remoteStream<MetricsHealth>(remote, cluster, signal, (watch, push) =>
        Promise.resolve({ first: [watch.sampler.health()], listening: watch.sampler.onSample(push) }),
      );
    },
    'xray.requests': async ({ cluster, filter, auditId }) => {
      const { localRequests, remoteRequests } = await loadXray();
      const record = local.find(cluster);
      if (record) return localRequests(running(record), record.cluster.config, { filter, auditId });
      return remoteRequests((await connect(cluster)).client, { filter, auditId });
    },
    'xray.admission': async ({ cluster }) => {
      const { localAdmissionFigures, remoteAdmissionFigures } = await loadAdmissionFigures();
      const record = local.find(cluster);
      if (record) return localAdmissionFigures(running(record), record.cluster.config);
      return remoteAdmissionFigures((await connect(cluster)).client);
    },
    'xray.scheduling': async ({ cluster, namespace, pod }) => {
      const record = local.find(cluster);
      const { localScheduling, noExplanations } = await loadXray();
      if (!record) throw noExplanations();
      return localScheduling(running(record), record.cluster.config, { namespace, pod });
    },
    'xray.whatIf': async ({ cluster, pod }) => {
      const record = local.find(cluster);
      const { localWhatIf, noExplanations } = await loadXray();
      if (!record) throw noExplanations();
      return localWhatIf(running(record), record.cluster.config, pod);
    },
    'certificates.list': async ({ cluster }) => {
      const record = local.find(cluster);
      if (!record) throw ownOnly('certificates');
      const { listServedCertificates } = await loadCertificates();
      return listServedCertificates(record.cluster.directory, record.cluster.config);
    },
    'doctor.examine': async ({ cluster }) => {
      const { examineByApi, examineRunning } = await loadDoctor();
      const record = local.find(cluster);
      const { findings, gaps } = record
        ? await examineRunning(record.cluster.directory, record.cluster.config, { clock, log })
        : await examineByApi((await connect(cluster)).client, clock);
      return { findings: [...findings], gaps: [...gaps] };
    },
    'cluster.checks': async ({ cluster }) => {
      const record = local.find(cluster);
      if (!record) throw ownOnly('checks');
      const { runChecklist } = await loadChecklist();
      return [
        ...(await runChecklist(record.cluster.directory, { config: record.cluster.config, clock, log })),
      ];
    },
  };
  return {
    handlers: { ...handlers, ...etcdInspection(recordOf) },
    dispose: () => owned.dispose(),
  };
};

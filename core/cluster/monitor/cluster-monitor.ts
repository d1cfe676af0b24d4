import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { connect, loadOwnKubeconfig } from '../../client/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { consoleKubeconfigFile } from '../data-folder/layout.ts';
import { etcdAccessOf, type EtcdAccess } from '../etcd-operator/operations.ts';
import type { ClusterRecords } from './cluster-records.ts';
import { MembersWatch, type MemberMetrics } from './etcd/members-watch.ts';
import { inFlightLimitsOf } from '../data-folder/in-flight-limits.ts';
import { LeasesWatch } from './leases/leases-watch.ts';
import { Sampler } from './sampler.ts';
import { openClusterAccess, type ClusterAccess } from './scrape/cluster-access.ts';
import { readingKey } from './scrape/reading.ts';
import { externalMember, targetsOf, type Target } from './scrape/targets.ts';
import type { Window } from './scrape/window.ts';

/** What `fsyncP99Ms` and round trips of members are measured over. */
const MEMBER_SPAN_MS = 30_000;
const MS_PER_SECOND = 1000;

export interface ClusterMonitorOptions {
  readonly dataDirectory: string;
  /** As of now: an upgrade or a new member changes it. */
  config(): ClusterConfig;
  readonly records: ClusterRecords;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Everything that is recorded of a cluster of ours while it runs. Disposing ends it; the records stay open. */
export interface ClusterMonitor extends Disposable {
  readonly access: ClusterAccess;
  readonly sampler: Sampler<Target>;
  readonly members: MembersWatch;
  /** To be started when the API is there: a watch that fails first waits longer and longer. */
  readonly leases: LeasesWatch;
}

const scrapeTarget = async (access: ClusterAccess, { urls, trust }: Target): Promise<readonly string[]> => {
  const texts: string[] = [];
  for (const url of urls) {
    const { status, text } = await access.ask({ url, trust });
    if (status !== 200) throw new ReasonError('Refused', `${url} returned ${status}: ${text.split('\n')[0]}`);
    texts.push(text);
  }
  return texts;
};

const milliseconds = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : seconds * MS_PER_SECOND;

export const startClusterMonitor = async (options: ClusterMonitorOptions): Promise<ClusterMonitor> => {
  const { dataDirectory, config, records, clock, random, log } = options;
  const owned = new DisposableStore();
  const etcdAccess = (): EtcdAccess => etcdAccessOf(dataDirectory, config());
  const kubeconfigFile = consoleKubeconfigFile(dataDirectory);
  const access = owned.add(
    openClusterAccess({ directory: dataDirectory, kubeconfigFile, etcdTls: () => etcdAccess().tls }),
  );
  const kubeconfig = await loadOwnKubeconfig(kubeconfigFile);
  const client = owned.add(connect(kubeconfig, { clock, random, log, userAgent: 'pilothouse-monitor' }));

  // The round trips of samples are named by members, and members have figures of samples.
  const parts: { members?: MembersWatch } = {};
  const sampler = owned.add(
    new Sampler<Target>({
      targets: () => targetsOf(config()),
      scrape: (target) => scrapeTarget(access, target),
      limits: () => inFlightLimitsOf(dataDirectory, config()),
      peerName: (id) => parts.members?.nameOf(id) ?? id,
      histories: records.histories,
      clock,
      log,
    }),
  );
  const sinceMs = (): number => clock.monotonicMs() - MEMBER_SPAN_MS;
  const windowOf = (name: string): Window | undefined => {
    const url = parts.members?.urlOf(name) ?? '';
    return (
      sampler.window('etcd', name) ?? (url === '' ? undefined : sampler.window('etcd', externalMember(url)))
    );
  };
  const metricsOf = (name: string): MemberMetrics => {
    const window = windowOf(name);
    return {
      fsyncP99Ms: milliseconds(window?.quantile('etcdFsync', 0.99, sinceMs())),
      proposalsFailed: window?.latest('etcdProposalsFailed') ?? null,
      quotaBytes: window?.latest('etcdQuotaBytes') ?? null,
    };
  };
  const members = owned.add(
    new MembersWatch({
      access: etcdAccess,
      plannedName: (peerUrl) =>
        planHosts(config()).find(({ etcd }) => etcd && peerUrl.includes(`//${etcd.address}:`))?.etcd?.name ??
        '',
      hostOf: (member) => planHosts(config()).find(({ etcd }) => etcd?.name === member)?.name ?? '',
      metricsOf,
      roundTripMs: (leader, to) =>
        milliseconds(windowOf(leader)?.quantile(readingKey('etcdRoundTrip', to), 0.5, sinceMs())),
      clock,
      log,
    }),
  );
  parts.members = members;
  const leases = owned.add(new LeasesWatch({ client, clock, random, log }));
  owned.add(members.onView((view) => records.timeline.observe(view)));
  owned.defer(() => records.timeline.forgetQuorum());
  sampler.start();
  members.start();
  return { access, sampler, members, leases, dispose: () => owned.dispose() };
};

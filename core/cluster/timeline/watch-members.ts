import type { Disposable } from '../../base/disposable.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { etcdAccessOf } from '../etcd-operator/operations.ts';
import { MembersWatch } from '../monitor/etcd/members-watch.ts';
import { pokeOnChange, type ChangingCluster } from '../monitor/etcd/poke-on-change.ts';
import type { Timeline } from './timeline.ts';

/** Elections are noticed in between: a member or host that goes makes the watch look immediately. */
const POLL_MS = 5_000;
const NO_METRICS = { fsyncP99Ms: null, proposalsFailed: null, quotaBytes: null };

export interface WatchedCluster extends ChangingCluster {
  readonly folder: { readonly directory: string };
  readonly config: ClusterConfig;
  readonly timeline: Timeline;
}

/** Watches the members of etcd for the timeline where no console does. */
export const watchMembers = (
  cluster: WatchedCluster,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Disposable => {
  const hosts = () => planHosts(cluster.config).filter(({ etcd }) => etcd);
  const members = new MembersWatch({
    access: () => etcdAccessOf(cluster.folder.directory, cluster.config),
    plannedName: (peerUrl) =>
      hosts().find(({ etcd }) => peerUrl.includes(`//${etcd!.address}:`))?.etcd?.name ?? '',
    hostOf: (member) => hosts().find(({ etcd }) => etcd?.name === member)?.name ?? '',
    metricsOf: () => NO_METRICS,
    roundTripMs: () => null,
    pollMs: POLL_MS,
    clock,
    log,
  });
  members.onView((view) => cluster.timeline.observeMembers(view));
  const changes = pokeOnChange(cluster, members);
  members.start();
  return {
    dispose() {
      changes.dispose();
      members.dispose();
    },
  };
};

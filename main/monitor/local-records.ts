import type { Clock } from '../../core/base/clock.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { messageOf } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import type { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import type { ClusterMonitor } from '../../core/cluster/monitor/cluster-monitor.ts';
import { openClusterRecords, type ClusterRecords } from '../../core/cluster/monitor/cluster-records.ts';
import { pokeOnChange } from '../../core/cluster/monitor/etcd/poke-on-change.ts';
import { assessCritical } from '../../core/cluster/monitor/health/critical.ts';
import type { ClusterAccess } from '../../core/cluster/monitor/scrape/cluster-access.ts';
import {
  ContractError,
  type EtcdEvent,
  type EtcdView,
  type LeasesView,
  type MetricsHealth,
  say,
} from '../../core/contract/index.ts';
import type { LocalCluster, LocalClusters } from '../clusters/local-clusters.ts';
import { Feed } from '../state/feed.ts';

/** Each item is the whole picture: who is slow wants the newest only. */
const ITEMS_WAITING_MAX = 1;

/** One cluster of this console's own: recorded while it runs, readable always. */
export class LocalRecord implements Disposable {
  readonly cluster: LocalCluster;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #records: ClusterRecords;
  readonly #members = new Feed<EtcdView>({ listenerItemsMax: ITEMS_WAITING_MAX });
  readonly #timeline = new Feed<readonly EtcdEvent[]>({ listenerItemsMax: ITEMS_WAITING_MAX });
  readonly #health = new Feed<MetricsHealth>({ listenerItemsMax: ITEMS_WAITING_MAX });
  readonly #leases: Feed<LeasesView>;
  #leasesHeard: Disposable | undefined;
  #watched: Supervisor | 'elsewhere' | undefined;
  #running: DisposableStore | undefined;
  #monitor: ClusterMonitor | undefined;

  constructor(cluster: LocalCluster, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.cluster = cluster;
    this.#clock = clock;
    this.#log = log.with({ cluster: cluster.directory });
    this.#records = openClusterRecords(cluster.directory, { clock, log: this.#log });
    this.#records.timeline.onChange((events) => this.#timeline.publish(events));
    this.#leases = new Feed<LeasesView>({
      listenerItemsMax: ITEMS_WAITING_MAX,
      onHeard: (isHeard) => this.#hearLeases(isHeard),
    });
    this.reconcile();
  }

  /** Undefined while the cluster does not run, and for a moment after its start. */
  get monitor(): ClusterMonitor | undefined {
    return this.#monitor;
  }

  get histories(): ClusterRecords['histories'] {
    return this.#records.histories;
  }

  /** Begins or ends recording as the cluster runs or not. */
  reconcile(): void {
    const { supervisor, isElsewhere } = this.cluster;
    const { phase } = this.cluster.state();
    const runner = supervisor ?? (isElsewhere ? 'elsewhere' : undefined);
    const wanted = phase === 'starting' || phase === 'ready' ? runner : undefined;
    if (phase === 'ready') this.#monitor?.leases.start();
    if (wanted === this.#watched) return;
    this.#stop();
    this.#watched = wanted;
    if (wanted) void this.#start(wanted === 'elsewhere' ? undefined : wanted);
  }

  members(signal: AbortSignal): AsyncIterable<EtcdView[]> {
    return this.#members.listen(signal, [this.#membersNow()]);
  }

  async *timeline(signal: AbortSignal): AsyncGenerator<EtcdEvent[][]> {
    const events = await this.#records.timeline.events();
    for await (const batch of this.#timeline.listen(signal, [events])) yield batch.map((one) => [...one]);
  }

  leases(signal: AbortSignal): AsyncIterable<LeasesView[]> {
    return this.#leases.listen(signal, [this.#leasesNow()]);
  }

  health(signal: AbortSignal): AsyncIterable<MetricsHealth[]> {
    return this.#health.listen(signal, [this.#healthNow()]);
  }

  dispose(): void {
    this.#stop();
    for (const feed of [this.#members, this.#timeline, this.#health, this.#leases]) feed.close();
    this.#records.close().catch((error: unknown) => {
      this.#log.write('warn', 'failed to close the records of a cluster', { error: messageOf(error) });
    });
  }

  /** Without a supervisor no one tells when a host comes or goes: members are asked every second anyway. */
  async #start(supervisor: Supervisor | undefined): Promise<void> {
    const running = new DisposableStore();
    this.#running = running;
    try {
      // With what it asks of members and servers it is large, and most starts of the console need none of it.
      const { startClusterMonitor } = await import('../../core/cluster/monitor/cluster-monitor.ts');
      const monitor = await startClusterMonitor({
        dataDirectory: this.cluster.directory,
        config: () => this.cluster.config,
        records: this.#records,
        clock: this.#clock,
        random: systemRandom,
        log: this.#log,
      });
      running.add(monitor);
      if (running.disposed) return;
      this.#monitor = monitor;
      if (this.cluster.state().phase === 'ready') monitor.leases.start();
      running.add(monitor.members.onView((view) => this.#members.publish(view)));
      running.add(monitor.sampler.onSample((health) => this.#health.publish(health)));
      if (supervisor) {
        running.add(pokeOnChange(supervisor, monitor.members));
        running.add(monitor.members.onView((view) => supervisor.timeline.observeMembers(view)));
        running.add(monitor.sampler.onSample((health) => supervisor.timeline.observeHealth(health)));
      }
      this.#hearLeases(this.#leases.listenerCount > 0);
    } catch (error) {
      this.#log.write('warn', 'failed to record the cluster', { error: messageOf(error) });
    }
  }

  #stop(): void {
    this.#hearLeases(false);
    this.#running?.dispose();
    this.#running = undefined;
    const wasRecorded = this.#monitor !== undefined;
    this.#monitor = undefined;
    if (!wasRecorded) return;
    this.#members.publish(this.#membersNow());
    this.#leases.publish(this.#leasesNow());
    this.#health.publish(this.#healthNow());
  }

  #hearLeases(isHeard: boolean): void {
    this.#leasesHeard?.dispose();
    this.#leasesHeard = isHeard
      ? this.#monitor?.leases.onView((view) => this.#leases.publish(view))
      : undefined;
  }

  #membersNow(): EtcdView {
    return (
      this.#monitor?.members.view ?? {
        atMs: this.#clock.nowMs(),
        members: [],
        problem: say('failure.notRunning'),
      }
    );
  }

  #leasesNow(): LeasesView {
    const atMs = this.#clock.nowMs();
    return this.#monitor?.leases.view() ?? { atMs, watchedSinceMs: atMs, leases: [] };
  }

  #healthNow(): MetricsHealth {
    const atMs = this.#clock.nowMs();
    return (
      this.#monitor?.sampler.health() ?? { atMs, critical: assessCritical([], new Map(), atMs), targets: [] }
    );
  }
}

/** Every cluster of this console's own, from the moment it is known. */
export class LocalRecords implements Disposable {
  readonly #clusters: LocalClusters;
  readonly #ports: { readonly clock: Clock; readonly log: Log };
  readonly #records = new Map<string, LocalRecord>();
  readonly #listening: Disposable;

  constructor(clusters: LocalClusters, ports: { readonly clock: Clock; readonly log: Log }) {
    this.#clusters = clusters;
    this.#ports = ports;
    this.#listening = clusters.onChange(() => this.#reconcile());
    this.#reconcile();
  }

  /** Undefined for a cluster that is not ours. */
  find(id: string): LocalRecord | undefined {
    const cluster = this.#clusters.find(id);
    return cluster && this.#recordOf(cluster);
  }

  dispose(): void {
    this.#listening.dispose();
    for (const record of this.#records.values()) record.dispose();
    this.#records.clear();
  }

  #recordOf(cluster: LocalCluster): LocalRecord {
    const known = this.#records.get(cluster.directory);
    if (known?.cluster === cluster) return known;
    known?.dispose();
    const record = new LocalRecord(cluster, this.#ports);
    this.#records.set(cluster.directory, record);
    return record;
  }

  #reconcile(): void {
    const clusters = this.#clusters.list();
    const directories = new Set(clusters.map(({ directory }) => directory));
    for (const [directory, record] of this.#records)
      if (!directories.has(directory)) {
        record.dispose();
        this.#records.delete(directory);
      }
    for (const cluster of clusters) this.#recordOf(cluster).reconcile();
  }
}

type OwnOnly = 'audit' | 'certificates' | 'checks' | 'encryption' | 'inspection' | 'timeline';

/** What only a cluster of this console's own has. */
export const ownOnly = (what: OwnOnly): ContractError =>
  new ContractError('Unimplemented', say(`failure.ownOnly.${what}`));

export const running = (record: LocalRecord): ClusterAccess => {
  const { monitor } = record;
  if (!monitor) throw new ContractError('Unavailable', say('failure.notRunning'));
  return monitor.access;
};

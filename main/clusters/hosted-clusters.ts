import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { toDisposable, type Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import { clusterFile } from '../../core/cluster/data-folder/layout.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import type { DataFolder } from '../../core/cluster/data-folder/open.ts';
import type { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import {
  type ClusterDefaults,
  type ClusterWishes,
  ContractError,
  type Said,
  saidOf,
  say,
} from '../../core/contract/index.ts';
import type { Damage } from '../state/json-document.ts';
import { CLUSTERS_MAX, openClusterMemory, readClusterNow } from './cluster-memory.ts';
import type { Leaders } from './cluster-state.ts';
import { deleteClusterFolder } from './delete-folder.ts';
import { lookElsewhere } from './elsewhere.ts';
import type { Engine } from './engine.ts';
import { clusterFailure } from './failure.ts';
import type { HostExitNotice } from './host-exits.ts';
import { HostedCluster } from './hosted-cluster.ts';
import type { LocalCluster, LocalClusters } from './local-clusters.ts';
import { assertRoomFor, clusterDefaults, directoryOf, specWishesOf } from './new-cluster.ts';

/** What runs is ended in order within this, then killed immediately: anyone who quits an application waits for it. */
export const STOP_ALL_LIMIT_MS = 10_000;
const NETWORKS_TRIED_MAX = 16;

export interface HostedClustersOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onDamage: (damage: Damage) => void;
  readonly engine: () => Promise<Engine>;
  readonly lookCloser: (cluster: LocalCluster, tell: (leaders: Leaders) => void) => Disposable;
}

export type HostExitListener = (cluster: HostedCluster, exit: HostExitNotice) => void;

/** The clusters of this console's own. */
export class HostedClusters implements LocalClusters {
  readonly #options: HostedClustersOptions;
  readonly #memory: ReturnType<typeof openClusterMemory>;
  readonly #clusters = new Map<string, HostedCluster>();
  readonly #problems = new Map<string, Said>();
  readonly #listeners = new Set<() => void>();
  readonly #exitListeners = new Set<HostExitListener>();
  /** Names and folders of clusters that are being made. */
  readonly #coming = new Map<string, string>();
  #lookers = 0;
  #looking: Disposable | undefined;
  #isEnding = false;

  constructor(options: HostedClustersOptions) {
    this.#options = options;
    this.#memory = openClusterMemory(options.dataDirectory, options.onDamage);
    // A console whose own folder is that of a cluster has it too: `pilothouse up` and `serve` take the same --data.
    const own = existsSync(clusterFile(options.dataDirectory)) ? [options.dataDirectory] : [];
    const known = this.#memory.value.clusters.map(({ directory }) => directory);
    for (const directory of new Set([...own, ...known])) this.#load(directory);
  }

  find(id: string): HostedCluster | undefined {
    return this.#clusters.get(id);
  }

  require(id: string): HostedCluster {
    const found = this.find(id);
    if (found) return found;
    throw this.unknown(id);
  }

  unknown(id: string): ContractError {
    return new ContractError('NotFound', say('failure.notHosted', { id }));
  }

  list(): readonly HostedCluster[] {
    return [...this.#clusters.values()];
  }

  /** Folders that are remembered and cannot be used, with the reason. */
  get problems(): readonly { readonly path: string; readonly message: Said }[] {
    return [...this.#problems].map(([path, message]) => ({ path, message }));
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  /** Called when a host of a running cluster exits without being asked to. */
  onHostExit(listener: HostExitListener): Disposable {
    this.#exitListeners.add(listener);
    return toDisposable(() => this.#exitListeners.delete(listener));
  }

  /** Until disposed, also looks whether other processes run these clusters. */
  lookElsewhere(): Disposable {
    this.#lookers += 1;
    this.#look();
    return toDisposable(() => {
      this.#lookers -= 1;
      this.#look();
    });
  }

  defaults(): ClusterDefaults {
    return clusterDefaults(this.#options.dataDirectory, this.#takenNames());
  }

  /** Resolves with the id when the cluster is made and listed; its start continues. */
  async create(wishes: ClusterWishes): Promise<string> {
    const directory = directoryOf(wishes, this.#options.dataDirectory);
    this.#assertNew(wishes.name, directory);
    this.#coming.set(wishes.name, directory);
    try {
      await assertRoomFor(directory);
      const engine = await this.#options.engine();
      const network = await this.#freeNetwork(engine, directory);
      const folder = await engine.open(directory, specWishesOf(wishes, network), wishes.name);
      await this.#remember(directory, true);
      this.#add(directory, folder.config).begin(folder);
      this.#tell();
      return directory;
    } catch (error) {
      throw clusterFailure(error);
    } finally {
      this.#coming.delete(wishes.name);
    }
  }

  /** Lists the cluster of a folder that was made elsewhere, as it is: started by anyone who runs it, or by no one. */
  async attach(directory: string): Promise<void> {
    if (this.find(directory)) return;
    if (this.#memory.value.clusters.length >= CLUSTERS_MAX)
      throw new ContractError('Conflict', say('failure.clustersMax', { max: CLUSTERS_MAX }));
    try {
      this.#add(directory, readClusterNow(directory));
    } catch (error) {
      throw clusterFailure(error);
    }
    await this.#remember(directory, false);
    this.#tell();
  }

  /** Takes a cluster in that this process runs already, until disposed. */
  adopt(folder: DataFolder, supervisor: Supervisor): Disposable {
    const cluster = this.find(folder.directory) ?? this.#add(folder.directory, folder.config);
    const adopted = cluster.adopt(supervisor);
    this.#tell();
    return adopted;
  }

  /** Resolves when the start has begun. */
  async start(id: string): Promise<void> {
    this.require(id).begin();
    await this.#remember(id, true);
  }

  /** Begins the stop; `cluster.state` tells when it is over. */
  async stop(id: string): Promise<void> {
    const cluster = this.require(id);
    const stopped = cluster.stop();
    // A refusal is there immediately; an end that takes its time is not waited for.
    await Promise.race([stopped, Promise.resolve()]);
    stopped.catch(() => undefined);
    await this.#remember(id, false);
  }

  /** Stops it and deletes what is its own in the folder. */
  async delete(id: string): Promise<void> {
    const cluster = this.require(id);
    await cluster.stop();
    try {
      const { dataDirectory } = this.#options;
      const isShared = `${dataDirectory}${sep}`.startsWith(`${id}${sep}`);
      await deleteClusterFolder(id, { isShared });
    } catch (error) {
      throw clusterFailure(error);
    }
    await this.#forget(id);
  }

  /** Leaves the folder as it is. */
  async forget(id: string): Promise<void> {
    if (this.find(id)?.isOurs)
      throw new ContractError('Conflict', say('failure.runs', { cluster: this.require(id).name }));
    await this.#forget(id);
  }

  /** Starts what was running when this console ended last. */
  resume(): void {
    for (const { directory, isRunning } of this.#memory.value.clusters)
      if (isRunning) this.find(directory)?.begin();
  }

  /** Ends everything, in order while there is time. The next `resume` starts it again. */
  async stopAll(limitMs = STOP_ALL_LIMIT_MS): Promise<void> {
    this.#isEnding = true;
    const running = this.list().filter(({ isOurs }) => isOurs);
    if (running.length === 0) return;
    const ended = Promise.allSettled(running.map((cluster) => cluster.stop()));
    const late = this.#options.clock.after(limitMs, () => {
      this.#options.log.write('warn', 'clusters did not stop in time and were cut off', { limitMs });
      for (const cluster of running) cluster.killHosts();
    });
    await ended;
    late.dispose();
  }

  dispose(): void {
    this.#looking?.dispose();
    this.#listeners.clear();
    for (const cluster of this.list()) cluster.dispose();
  }

  #takenNames(): Set<string> {
    return new Set([...this.list().map(({ name }) => name), ...this.#coming.keys()]);
  }

  #assertNew(name: string, directory: string): void {
    if (this.#isEnding) throw new ContractError('Unavailable', say('failure.shuttingDown'));
    if (this.#takenNames().has(name)) throw new ContractError('Conflict', say('failure.nameTaken', { name }));
    if (this.#clusters.has(directory) || [...this.#coming.values()].includes(directory))
      throw new ContractError('Conflict', say('failure.directoryTaken', { directory }));
    if (this.#memory.value.clusters.length + this.#coming.size >= CLUSTERS_MAX)
      throw new ContractError('Conflict', say('failure.clustersMax', { max: CLUSTERS_MAX }));
  }

  /** Clusters that are stopped now keep their network, so that they can run beside the new one later. */
  async #freeNetwork(engine: Engine, directory: string): Promise<number> {
    const taken = new Set(this.list().map(({ config }) => config.spec.network));
    for (let n = 0; n < NETWORKS_TRIED_MAX; n += 1) {
      const network = await engine.findNetwork(n === 0 ? directory : `${directory}#${n}`);
      if (!taken.has(network)) return network;
    }
    throw new ContractError('Unavailable', say('failure.noNetworkLeft'));
  }

  #load(directory: string): void {
    try {
      this.#add(directory, readClusterNow(directory));
    } catch (error) {
      this.#problems.set(directory, saidOf(error));
    }
  }

  #add(directory: string, config: ClusterConfig): HostedCluster {
    const { engine, clock, log, lookCloser } = this.#options;
    const cluster = new HostedCluster({
      directory,
      config,
      engine,
      clock,
      log,
      lookCloser,
      onPhase: (changed) => this.#phaseChanged(changed),
      onHostExit: (of, exit) => {
        for (const listener of [...this.#exitListeners]) listener(of, exit);
      },
    });
    this.#clusters.set(directory, cluster);
    this.#problems.delete(directory);
    return cluster;
  }

  #phaseChanged(cluster: HostedCluster): void {
    if (cluster.phase === 'failed' && !this.#isEnding) this.#rememberLater(cluster.directory, false);
    this.#tell();
  }

  #rememberLater(directory: string, isRunning: boolean): void {
    this.#remember(directory, isRunning).catch((error: unknown) =>
      this.#options.log.write('error', 'failed to save which clusters are running', { directory, error }),
    );
  }

  async #remember(directory: string, isRunning: boolean): Promise<void> {
    await this.#memory.change(({ clusters }) => {
      const others = clusters.filter((known) => known.directory !== directory);
      const place = clusters.findIndex((known) => known.directory === directory);
      return {
        clusters: others.toSpliced(place === -1 ? others.length : place, 0, { directory, isRunning }),
      };
    });
  }

  async #forget(id: string): Promise<void> {
    if (!this.#clusters.has(id) && !this.#problems.has(id)) throw this.unknown(id);
    await this.#memory.change(({ clusters }) => ({
      clusters: clusters.filter(({ directory }) => directory !== id),
    }));
    this.find(id)?.dispose();
    this.#clusters.delete(id);
    this.#problems.delete(id);
    this.#tell();
  }

  #look(): void {
    const isWanted = this.#lookers > 0 && this.#clusters.size > 0;
    if (isWanted === (this.#looking !== undefined)) return;
    this.#looking?.dispose();
    this.#looking = isWanted ? lookElsewhere(() => this.list(), this.#options.clock) : undefined;
  }

  #tell(): void {
    this.#look();
    for (const listener of [...this.#listeners]) listener();
  }
}

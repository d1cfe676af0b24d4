import type { Clock } from '../../core/base/clock.ts';
import { toDisposable, type Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import type { ClusterState } from '../../core/cluster/state/cluster-state.ts';
import type { DataFolder } from '../../core/cluster/data-folder/open.ts';
import type { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import {
  ContractError,
  type LocalClusterState,
  type Said,
  SaidError,
  saidOf,
  say,
} from '../../core/contract/index.ts';
import { readClusterNow } from './cluster-memory.ts';
import { localState, type Leaders } from './cluster-state.ts';
import type { Engine } from './engine.ts';
import { HostExits, type HostExitNotice } from './host-exits.ts';
import type { LocalCluster } from './local-clusters.ts';

export type ClusterPhase = LocalClusterState['phase'];

/** A start changes the state hundreds of times; no one reads that fast. */
const TELL_PAUSE_MS = 50;

export interface HostedClusterOptions {
  readonly directory: string;
  readonly config: ClusterConfig;
  readonly engine: () => Promise<Engine>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onPhase: (cluster: HostedCluster) => void;
  /** A host of it exited without being asked to. */
  readonly onHostExit: (cluster: HostedCluster, exit: HostExitNotice) => void;
  /** Looks closer while the cluster runs and there are listeners: who leads, and what everything uses. */
  readonly lookCloser: (cluster: LocalCluster, tell: (leaders: Leaders) => void) => Disposable;
}

const NO_LEADERS: Leaders = new Set();

/** A cluster whose processes this one starts and ends. Its life, from start to stop, is one run of `#live`. */
export class HostedCluster implements LocalCluster {
  readonly directory: string;
  readonly #options: HostedClusterOptions;
  readonly #listeners = new Set<(state: LocalClusterState) => void>();
  readonly #gone = new AbortController();
  #config: ClusterConfig;
  #phase: ClusterPhase = 'stopped';
  #message: Said | undefined;
  #supervisor: Supervisor | undefined;
  /** Told by its own process, where another one runs it. */
  #elsewhere: ClusterState | undefined;
  #leaders: Leaders = NO_LEADERS;
  #looking: Disposable | undefined;
  #telling: Disposable | undefined;
  #askToStop: () => void = () => undefined;
  #life: Promise<void> = Promise.resolve();
  #isAdopted = false;
  readonly #exits = new HostExits();
  /** What the process elsewhere told when the configuration was read last. */
  #readAt = '';

  constructor(options: HostedClusterOptions) {
    this.#options = options;
    this.directory = options.directory;
    this.#config = options.config;
  }

  get config(): ClusterConfig {
    return this.#supervisor?.config ?? this.#config;
  }

  get supervisor(): Supervisor | undefined {
    return this.#supervisor;
  }

  get phase(): ClusterPhase {
    if (!this.#elsewhere) return this.#phase;
    return this.#elsewhere.phase;
  }

  get name(): string {
    return this.config.metadata.name;
  }

  /** Aborted when it is a cluster of this console no more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isListenedTo(): boolean {
    return this.#listeners.size > 0;
  }

  get isElsewhere(): boolean {
    return this.#elsewhere !== undefined;
  }

  /** True while this process holds its folder. */
  get isOurs(): boolean {
    return this.#phase !== 'stopped' && this.#phase !== 'failed';
  }

  state(): LocalClusterState {
    const { config, directory } = this;
    return localState({
      directory,
      config,
      phase: this.phase,
      message: this.#elsewhere ? say('state.elsewhere') : this.#message,
      running: this.#supervisor?.state() ?? this.#elsewhere,
      leaders: this.#leaders,
    });
  }

  onChange(listener: (state: LocalClusterState) => void): Disposable {
    this.#listeners.add(listener);
    this.#look();
    return toDisposable(() => {
      this.#listeners.delete(listener);
      this.#look();
    });
  }

  /** What another process says of this cluster; undefined when none runs it. */
  tellElsewhere(state: ClusterState | undefined): void {
    const now = this.isOurs ? undefined : state;
    if (now === undefined && this.#elsewhere === undefined) return;
    const before = this.phase;
    this.#elsewhere = now;
    if (now) {
      this.#readAnew(now);
      this.#lookAtExits(now);
    } else this.#leaders = NO_LEADERS;
    if (this.phase !== before) this.#options.onPhase(this);
    this.#look();
    this.#changed();
  }

  /** Begins; `opened` is its folder where that is locked already. Phases tell the rest. */
  begin(opened?: DataFolder): void {
    if (this.#elsewhere)
      throw new ContractError('Conflict', say('failure.hostedElsewhere', { cluster: this.name }));
    if (this.#phase === 'stopping')
      throw new ContractError('Conflict', say('failure.stopping', { cluster: this.name }));
    if (this.isOurs) return;
    this.#enter('preparing');
    const asked = new Promise<void>((resolve) => (this.#askToStop = resolve));
    this.#life = this.#live(opened, asked);
  }

  /** Takes over a cluster that this process has started on its own, and does not end it. */
  adopt(supervisor: Supervisor): Disposable {
    this.#supervisor = supervisor;
    this.#isAdopted = true;
    const follow = (state: ClusterState): void => {
      const { phase } = state;
      this.#lookAtExits(state);
      if (this.#phase !== phase) this.#enter(phase);
      else this.#changed();
    };
    const following = supervisor.onChange(follow);
    follow(supervisor.state());
    return toDisposable(() => {
      following.dispose();
      this.#isAdopted = false;
      this.#letGo();
      this.#enter('stopped');
    });
  }

  /** Resolves when nothing of it runs here any more. */
  async stop(): Promise<void> {
    if (this.#elsewhere)
      throw new ContractError('Conflict', say('failure.hostedElsewhere', { cluster: this.name }));
    if (this.#isAdopted)
      throw new ContractError('Conflict', say('failure.servedHere', { cluster: this.name }));
    if (!this.isOurs) return;
    if (this.#phase !== 'stopping') this.#enter('stopping');
    this.#askToStop();
    await this.#life;
  }

  /** As pulling every plug: for an end that must not wait. */
  killHosts(): void {
    for (const link of this.#supervisor?.hosts ?? []) if (link.isAlive) link.kill();
  }

  dispose(): void {
    this.#gone.abort();
    this.#telling?.dispose();
    this.#looking?.dispose();
    this.#listeners.clear();
  }

  async #live(opened: DataFolder | undefined, stopAsked: Promise<void>): Promise<void> {
    const { engine: load, log } = this.#options;
    const closing: (() => Promise<void> | void)[] = [];
    let failure: unknown;
    try {
      const engine = await load();
      const folder = opened ?? (await engine.open(this.directory, {}));
      closing.push(() => folder.lock.dispose());
      this.#config = folder.config;
      await engine.assertStartable(folder.config);
      const supervisor = engine.supervise(folder);
      this.#supervisor = supervisor;
      closing.push(() => supervisor.stop());
      const following = supervisor.onChange((state) => {
        this.#lookAtExits(state);
        this.#changed();
      });
      closing.push(() => following.dispose());
      const commands = await engine.serveCommands(supervisor);
      closing.push(() => commands.close());
      if (this.#phase === 'preparing') this.#enter('starting');
      await Promise.race([supervisor.start(), stopAsked]);
      if (this.#phase === 'starting') this.#enter('ready');
      await stopAsked;
    } catch (error) {
      // A start that was cut off by a stop has not failed.
      if (this.#phase !== 'stopping') failure = error;
      log.write(failure ? 'error' : 'debug', 'a cluster stopped', { directory: this.directory, error });
    }
    const isFailed = failure !== undefined;
    this.#enter('stopping', isFailed ? saidOf(failure) : undefined);
    for (const close of closing.reverse())
      try {
        await close();
      } catch (error) {
        log.write('error', 'failed to close a part of a cluster', { directory: this.directory, error });
      }
    this.#letGo();
    this.#enter(isFailed ? 'failed' : 'stopped', isFailed ? saidOf(failure) : undefined);
  }

  /** Members and versions change there, and with them the file that says so. */
  #readAnew({ kubernetesVersion, hosts }: ClusterState): void {
    const stamp = [kubernetesVersion, ...hosts.map(({ name }) => name)].join();
    if (stamp === this.#readAt) return;
    try {
      this.#config = readClusterNow(this.directory);
      this.#readAt = stamp;
    } catch (error) {
      // Written at this moment: it is read with the next look.
      this.#options.log.write('debug', 'failed to read a configuration', { error });
    }
  }

  #lookAtExits(state: ClusterState): void {
    for (const exit of this.#exits.look(state)) this.#options.onHostExit(this, exit);
  }

  #letGo(): void {
    this.#exits.forget();
    this.#config = this.config;
    this.#supervisor = undefined;
    this.#leaders = NO_LEADERS;
  }

  #enter(phase: ClusterPhase, message?: Said): void {
    this.#phase = phase;
    this.#message = message;
    this.#options.onPhase(this);
    this.#look();
    this.#changed();
  }

  #look(): void {
    const isWanted = this.isListenedTo && this.phase === 'ready';
    if (isWanted === (this.#looking !== undefined)) return;
    this.#looking?.dispose();
    this.#looking = isWanted
      ? this.#options.lookCloser(this, (leaders) => {
          this.#leaders = leaders;
          this.#changed();
        })
      : undefined;
  }

  #changed(): void {
    if (!this.isListenedTo || this.#telling) return;
    this.#telling = this.#options.clock.after(TELL_PAUSE_MS, () => {
      this.#telling = undefined;
      const state = this.state();
      for (const listener of [...this.#listeners]) listener(state);
    });
  }
}

/** The supervisor of a cluster that runs here, or one line that says why there is none. */
export const requireSupervisor = (cluster: LocalCluster): Supervisor => {
  if (cluster.supervisor) return cluster.supervisor;
  const { name, phase, directory } = cluster.state();
  if (phase === 'starting' || phase === 'ready')
    throw new SaidError('Conflict', say('failure.hostedElsewhere.command', { cluster: name, directory }));
  throw new SaidError('Conflict', say('failure.notRunningHere', { cluster: cluster.config.metadata.name }));
};

import type { Clock } from '../../base/clock.ts';
import { say, SaidError, verbatim, type Said } from '../../contract/index.ts';
import type { HostPlan } from '../config/hosts.ts';
import type { ComponentUsage, FromHost, HostFaults, HostStart, StopStage } from '../host/messages.ts';
import type { HostRestarts } from './host-keeper.ts';
import type { HostLauncher, HostListener, LaunchedHost } from './host-launcher.ts';
import type { ComponentState, HostState } from '../state/cluster-state.ts';
import type { HostPhase } from '../operation/host-phase.ts';

const REPORT_TIMEOUT_MS = 1_000;

export interface HostLinkOptions {
  readonly plan: HostPlan;
  /** Asked at every launch: an upgrade changes it. */
  start(): HostStart;
  readonly launch: HostLauncher;
  readonly clock: Clock;
  /** When the cluster was started, on the monotonic clock. */
  readonly originMs: number;
  /** After every change of the state. */
  onChange(): void;
  /** A process was launched. */
  onLaunched(): void;
  /** The process has ended; `isWanted` when it was asked to, or killed through this link. */
  onExited(exit: { readonly isWanted: boolean; readonly reason: Said }): void;
  restarts(): HostRestarts;
  /** A component serves: whether it is ready is for the gates to find out. */
  onServing(component: string): void;
}

export interface ComponentWait {
  /** Of the component, before its manifest was changed. */
  readonly restarts: number;
  isThere(): boolean;
  readonly timeoutMs: number;
}

/** One host as the supervisor holds it: its process, if there is one, and what is known of it. */
export class HostLink {
  readonly plan: HostPlan;
  readonly #options: HostLinkOptions;
  readonly #components = new Map<string, ComponentState>();
  readonly #waiting = new Set<() => void>();
  #process: LaunchedHost | undefined;
  #phase: HostPhase = 'stopped';
  #message: Said | undefined;
  #rssBytes: number | undefined;
  #drained = new Set<StopStage>();
  #reportId = 0;
  #reports = new Map<number, () => void>();
  #isClosed = false;
  #isEndWanted = false;
  #exitSignal: string | undefined;

  constructor(options: HostLinkOptions) {
    this.#options = options;
    this.plan = options.plan;
  }

  get isAlive(): boolean {
    return this.#process !== undefined;
  }

  get phase(): HostPhase {
    return this.#phase;
  }

  isDrained(stage: StopStage): boolean {
    return this.#drained.has(stage) || !this.isAlive;
  }

  component(name: string): ComponentState | undefined {
    return this.#components.get(name);
  }

  state(): HostState {
    const { name, role, address, nodes } = this.plan;
    return {
      name,
      role,
      address,
      phase: this.#phase,
      pid: this.#process?.pid,
      rssBytes: this.isAlive ? this.#rssBytes : undefined,
      message: this.#message,
      exitSignal: this.#exitSignal,
      isEndWanted: this.#isEndWanted,
      ...this.#options.restarts(),
      nodes: nodes.map((node) => node.name),
      components: [...this.#components.values()],
    };
  }

  /** Begins a new process; what is known of the one before is forgotten. */
  launch(): void {
    if (this.#process)
      throw new SaidError('AlreadyRunning', say('failure.host.running', { host: this.plan.name }));
    const { launch, start } = this.#options;
    this.#components.clear();
    this.#message = undefined;
    this.#drained.clear();
    this.#isEndWanted = false;
    this.#exitSignal = undefined;
    const launched = launch(this.plan.name, {
      onMessage: (message) => {
        if (this.#process === launched) this.#heard(message);
      },
      onExit: (exit) => this.#exited(launched, exit),
    });
    this.#process = launched;
    this.#options.onLaunched();
    this.#enter('starting');
    launched.send({ kind: 'start', start: start() });
  }

  /** As pulling the plug. */
  kill(): void {
    const process = this.#alive();
    this.#isEndWanted = true;
    process.signal('SIGKILL');
  }

  pause(): void {
    this.#alive().signal('SIGSTOP');
    this.#enter('paused');
  }

  resume(): void {
    this.#alive().signal('SIGCONT');
    this.#enter('running');
  }

  /** Asks for an orderly end; later stages wait for `enterStage`. */
  beginStop(graceMs: number): void {
    if (!this.#process) return;
    this.#isEndWanted = true;
    if (this.#phase === 'paused') this.#process.signal('SIGCONT');
    this.#enter('stopping');
    this.#process.send({ kind: 'stop', graceMs });
  }

  enterStage(stage: StopStage): void {
    this.#process?.send({ kind: 'stage', stage });
  }

  killComponent(component: string): void {
    if (this.#components.get(component)?.phase === undefined)
      throw new SaidError('NotFound', say('failure.host.noComponent', { host: this.plan.name, component }));
    this.#alive().send({ kind: 'kill-component', component });
  }

  /** Told to a host that runs; one that starts has none. */
  setFaults(faults: HostFaults): void {
    this.#process?.send({ kind: 'faults', faults });
  }

  setNodeVersion(node: string, version: string): void {
    this.#alive().send({ kind: 'node-version', node, version });
  }

  /** A gate has found that it does what it is there for. */
  markReady(component: string): void {
    const known = this.#components.get(component);
    if (known?.phase === 'serving') this.#set({ ...known, phase: 'ready', changedMs: this.#sinceMs() });
  }

  /** Asks for memory and processor use; what a host does not tell in time stays as it was. */
  async refreshUsage(): Promise<void> {
    const process = this.#process;
    if (!process || this.#phase === 'paused') return;
    const id = (this.#reportId += 1);
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(REPORT_TIMEOUT_MS, resolve);
      this.#reports.set(id, () => {
        timer.dispose();
        resolve();
      });
      process.send({ kind: 'report', id });
    });
    this.#reports.delete(id);
  }

  /** Its cluster has ended: no one who waits for it waits any longer. */
  close(): void {
    this.#isClosed = true;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves when it is true, or false after the time or the end of the cluster; looked at after every change. */
  async until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    while (!condition()) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0 || this.#isClosed) return false;
      await new Promise<void>((resolve) => {
        const timer = clock.after(leftMs, () => wake());
        const wake = (): void => {
          timer.dispose();
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
    return true;
  }

  /**
   * Resolves to whether the component comes to this state after its manifest was changed. One that rejects its new
   * configuration never does, so it is not waited for.
   */
  async untilChanged(component: string, { restarts, isThere, timeoutMs }: ComponentWait): Promise<boolean> {
    const isRejected = (): boolean => {
      const now = this.component(component);
      return now !== undefined && now.restarts > restarts && now.phase === 'exited' && now.isRejected;
    };
    await this.until(() => isThere() || isRejected(), timeoutMs);
    return isThere();
  }

  #alive(): LaunchedHost {
    if (this.#process) return this.#process;
    throw new SaidError('NotRunning', say('failure.host.down', { host: this.plan.name }));
  }

  #heard(message: FromHost): void {
    switch (message.kind) {
      case 'started':
        if (this.#phase === 'starting') this.#enter('running');
        return;
      case 'failed':
        this.#message = verbatim(message.message);
        this.#changed();
        return;
      case 'drained':
        this.#drained.add(message.stage);
        this.#changed();
        return;
      case 'report':
        this.#report(message.rssBytes, message.components);
        this.#reports.get(message.id)?.();
        return;
      case 'component':
        this.#componentChanged(message);
    }
  }

  #componentChanged({
    component,
    phase,
    version,
    message,
    isRejected = false,
  }: FromHost & { kind: 'component' }): void {
    const before = this.#components.get(component);
    const isAgain = phase === 'starting' && before !== undefined;
    this.#set({
      name: component,
      phase: phase === 'ready' ? 'serving' : phase,
      version,
      restarts: (before?.restarts ?? 0) + (isAgain ? 1 : 0),
      changedMs: this.#sinceMs(),
      message: message ?? (phase === 'exited' ? undefined : before?.message),
      isRejected,
      heapBytes: before?.heapBytes,
      utilization: before?.utilization,
    });
    if (phase === 'ready') this.#options.onServing(component);
  }

  #report(rssBytes: number, usages: readonly ComponentUsage[]): void {
    this.#rssBytes = rssBytes;
    for (const { component, heapBytes, utilization } of usages) {
      const known = this.#components.get(component);
      if (known) this.#components.set(component, { ...known, heapBytes, utilization });
    }
    this.#changed();
  }

  #exited(process: LaunchedHost, { code, signal, why }: Parameters<HostListener['onExit']>[0]): void {
    if (this.#process !== process) return;
    this.#process = undefined;
    this.#exitSignal = signal ?? undefined;
    for (const [name, known] of this.#components)
      this.#components.set(name, { ...known, phase: 'exited', changedMs: this.#sinceMs() });
    const isStopped = signal === null && code === 0;
    const reason =
      this.#message ??
      (signal !== null
        ? say('exit.signal', { signal })
        : why === undefined
          ? say('exit.code', { code: `${code}` })
          : verbatim(why));
    if (!isStopped) this.#message = reason;
    this.#phase = isStopped ? 'stopped' : signal !== null ? 'killed' : 'failed';
    // Before anybody is told: what becomes of it belongs to the message.
    this.#options.onExited({ isWanted: this.#isEndWanted, reason });
    this.#changed();
  }

  /** More to say of a host that is down than why it ended. */
  explain(message: Said): void {
    this.#message = message;
    this.#changed();
  }

  #sinceMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#options.originMs);
  }

  #set(component: ComponentState): void {
    this.#components.set(component.name, component);
    this.#changed();
  }

  #enter(phase: HostPhase): void {
    this.#phase = phase;
    this.#changed();
  }

  #changed(): void {
    for (const wake of [...this.#waiting]) wake();
    this.#options.onChange();
  }
}

import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Target } from '../../proxy/forwarding/index.ts';
import {
  afterCheck,
  chooseBackend,
  UNTESTED,
  type BackendHealth,
  type CheckOutcome,
} from './backend-health.ts';
import type { BalancerMetrics } from './balancer-metrics.ts';

/** One API server. */
export type Backend = Target;

export interface BackendState extends Backend {
  /** Takes new connections. */
  readonly healthy: boolean;
  readonly standing: BackendHealth['standing'];
  readonly isShuttingDown: boolean;
  readonly connections: number;
  readonly lastError: string | undefined;
  /** Of the last check that succeeded. */
  readonly latencyMs: number | undefined;
}

export interface BackendPoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: BalancerMetrics;
  readonly checkIntervalMs: number;
  readonly drainGraceMs: number;
  /** Never rejects. */
  check(backend: Backend): Promise<CheckOutcome>;
  /** Resets the connections of a backend; answers how many there were. */
  reset(backend: Backend): number;
  /** A backend came in or went out. */
  changed(): void;
}

/** Between checks of a backend that was well the last time, in intervals. */
const WELL_FACTOR = 2;

interface Entry {
  readonly backend: Backend;
  health: BackendHealth;
  connections: number;
  isRemoved: boolean;
  checks: Disposable | undefined;
  leaving: Disposable | undefined;
}

/** The backends of a load balancer: how each is, and how many connections it has. */
export class BackendPool {
  readonly #options: BackendPoolOptions;
  readonly #entries = new Map<string, Entry>();
  /** Taken out by `update`, with connections left. */
  readonly #removed = new Set<Entry>();
  #turn = 0;
  #isClosed = false;

  constructor(options: BackendPoolOptions) {
    this.#options = options;
  }

  states(): BackendState[] {
    return [...this.#entries.values()].map(({ backend, health, connections }) => ({
      ...backend,
      healthy: health.standing === 'ready',
      standing: health.standing,
      isShuttingDown: health.isShuttingDown,
      connections,
      lastError: health.lastError,
      latencyMs: health.latencyMs,
    }));
  }

  pick(tried: ReadonlySet<string>): Backend | undefined {
    const candidates = [...this.#entries.values()].map(({ backend, health, connections }) => ({
      name: backend.name,
      standing: health.standing,
      connections,
      backend,
    }));
    const chosen = chooseBackend(candidates, tried, this.#turn);
    this.#turn = (this.#turn + 1) % Math.max(1, candidates.length);
    return chosen?.backend;
  }

  opened(target: Target): void {
    const { metrics } = this.#options;
    const entry = this.#entryOf(target);
    if (entry) entry.connections += 1;
    metrics.opened.labels(target.name).inc();
    metrics.connections.labels(target.name).add(1);
  }

  closed(target: Target): void {
    const entry = this.#entryOf(target);
    this.#options.metrics.connections.labels(target.name).add(-1);
    if (!entry) return;
    entry.connections -= 1;
    if (entry.isRemoved && entry.connections === 0) this.#forget(entry);
  }

  /** Counts as a failed check: waiting for the next one would send more clients there. */
  connectFailed(target: Target, error: Error): void {
    this.#options.metrics.connectFailures.labels(target.name).inc();
    const entry = this.#entries.get(target.name);
    if (!entry) return;
    const wasWell = entry.health.failures === 0;
    this.#record(entry, { kind: 'unreachable', error: messageOf(error) });
    // The longer interval was for a healthy backend. A check in progress schedules the next one itself.
    if (wasWell && entry.checks !== undefined) {
      entry.checks.dispose();
      this.#checkAgain(entry);
    }
  }

  update(backends: readonly Backend[]): void {
    const wanted = new Map(backends.map((backend) => [backend.name, backend]));
    for (const entry of [...this.#entries.values()]) {
      const next = wanted.get(entry.backend.name);
      const isSame = next?.host === entry.backend.host && next.port === entry.backend.port;
      if (isSame) wanted.delete(entry.backend.name);
      else this.#remove(entry);
    }
    // Copies: a connection belongs to its entry by the identity of its target.
    for (const backend of wanted.values()) this.#add({ ...backend });
    this.#options.changed();
  }

  close(): void {
    this.#isClosed = true;
    for (const entry of [...this.#entries.values(), ...this.#removed]) {
      entry.checks?.dispose();
      entry.leaving?.dispose();
    }
  }

  #entryOf(target: Target): Entry | undefined {
    return [...this.#entries.values(), ...this.#removed].find(({ backend }) => backend === target);
  }

  #add(backend: Backend): void {
    const { metrics } = this.#options;
    const entry: Entry = {
      backend,
      health: UNTESTED,
      connections: 0,
      isRemoved: false,
      checks: undefined,
      leaving: undefined,
    };
    this.#entries.set(backend.name, entry);
    metrics.up.labels(backend.name).set(0);
    this.#checkNow(entry);
  }

  #checkNow(entry: Entry): void {
    void this.#check(entry).then(() => {
      if (!this.#isClosed && !entry.isRemoved) this.#checkAgain(entry);
    });
  }

  /** A failed connection or response reports a failure first; checks of healthy backends find the rest. */
  #checkAgain(entry: Entry): void {
    const { clock, checkIntervalMs } = this.#options;
    const { standing, failures } = entry.health;
    const isWell = standing === 'ready' && failures === 0;
    entry.checks = clock.after(isWell ? checkIntervalMs * WELL_FACTOR : checkIntervalMs, () => {
      entry.checks = undefined;
      this.#checkNow(entry);
    });
  }

  #remove(entry: Entry): void {
    const { name } = entry.backend;
    this.#entries.delete(name);
    entry.isRemoved = true;
    entry.checks?.dispose();
    this.#options.metrics.up.remove(name);
    if (entry.connections === 0) return this.#forget(entry);
    this.#removed.add(entry);
    this.#leave(entry);
  }

  #forget(entry: Entry): void {
    this.#removed.delete(entry);
    entry.leaving?.dispose();
    const { name } = entry.backend;
    // A backend of the same name may be there again, and has these labels now.
    if (!this.#entries.has(name)) this.#options.metrics.connections.remove(name);
  }

  async #check(entry: Entry): Promise<void> {
    const outcome = await this.#options.check(entry.backend);
    // An answer that comes after the backend was taken out says nothing about one of the same name.
    if (!this.#isClosed && !entry.isRemoved) this.#record(entry, outcome);
  }

  #record(entry: Entry, outcome: CheckOutcome): void {
    const { log, metrics } = this.#options;
    const before = entry.health;
    entry.health = afterCheck(before, outcome);
    const { standing, isShuttingDown, lastError } = entry.health;
    const { name } = entry.backend;
    metrics.up.labels(name).set(standing === 'ready' ? 1 : 0);
    if (outcome.kind === 'ready') metrics.checks.labels(name).observe(outcome.latencyMs / 1000);
    if (isShuttingDown) this.#leave(entry);
    else if (outcome.kind === 'ready') {
      entry.leaving?.dispose();
      entry.leaving = undefined;
    }
    if (standing === before.standing && isShuttingDown === before.isShuttingDown) return;
    if (standing === 'ready') log.write('info', 'a backend is ready', { backend: name });
    else
      log.write('warn', 'a backend is not ready', {
        backend: name,
        standing,
        isShuttingDown,
        error: lastError,
      });
    this.#options.changed();
  }

  /** HTTP/2 clients keep one connection for hours: without a reset they stay with a server until it is gone. */
  #leave(entry: Entry): void {
    const { clock, log, metrics, drainGraceMs } = this.#options;
    entry.leaving ??= clock.after(drainGraceMs, () => {
      entry.leaving = undefined;
      const count = this.#options.reset(entry.backend);
      metrics.resets.labels(entry.backend.name).inc(count);
      if (count > 0)
        log.write('info', 'reset connections to a backend that is shutting down', {
          backend: entry.backend.name,
          count,
        });
    });
  }
}

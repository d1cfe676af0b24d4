import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { every } from '../../base/every.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { ConnectionBudget, TcpForwarder, type Target } from '../../proxy/forwarding/index.ts';
import {
  afterCheck,
  chooseBackend,
  UNTESTED,
  type BackendHealth,
  type CheckOutcome,
} from './backend-health.ts';
import { balancerMetrics } from './balancer-metrics.ts';
import { readyzChecker, type Checker, type CheckTls } from './readyz-check.ts';

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

export interface LoadBalancerState {
  readonly address: string;
  readonly port: number;
  readonly connections: number;
  readonly backends: readonly BackendState[];
}

export interface LoadBalancerOptions {
  readonly address: string;
  readonly port: number;
  readonly backends: readonly Backend[];
  /** For the checks; connections themselves are passed through as they are. */
  readonly tls: CheckTls;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry?: Registry;
  readonly connectionsMax?: number;
  readonly checkIntervalMs?: number;
  /** How long connections to a backend that goes away may still last. */
  readonly drainGraceMs?: number;
  /**
   * How long a client may wait for the first backend that ever comes: all of a cluster starts at once, and who waits is
   * served sooner than who is reset and backs off. 0 resets.
   */
  readonly firstBackendWaitMs?: number;
  /** Instead of GET /readyz; for tests. */
  readonly checker?: Checker;
}

export interface LoadBalancer {
  readonly registry: Registry;
  state(): LoadBalancerState;
  /** Backends that are no longer named take no new connections, and lose theirs after the grace. */
  update(backends: readonly Backend[]): void;
  /** A renewed certificate, for the next checks. */
  setTls(tls: CheckTls): void;
  /** Called when a backend comes in or goes out. */
  onChange(listener: (state: LoadBalancerState) => void): Disposable;
  close(): Promise<void>;
}

const CHECK_INTERVAL_MS = 1000;
/** Long enough for requests to end, short enough that HTTP/2 clients have moved before the server is gone. */
const DRAIN_GRACE_MS = 5000;
const CONNECTIONS_MAX = 8192;

interface Entry {
  readonly backend: Backend;
  health: BackendHealth;
  connections: number;
  isRemoved: boolean;
  checks: Disposable;
  leaving: Disposable | undefined;
}

/** A TCP load balancer for API servers; resolves when it listens. TLS goes through to the backends untouched. */
export const createLoadBalancer = async (options: LoadBalancerOptions): Promise<LoadBalancer> => {
  const { address, port, clock, log } = options;
  const { drainGraceMs = DRAIN_GRACE_MS, checkIntervalMs = CHECK_INTERVAL_MS } = options;
  const { firstBackendWaitMs = 0 } = options;
  const registry = options.registry ?? new Registry();
  const metrics = balancerMetrics(registry);
  const budget = new ConnectionBudget(options.connectionsMax ?? CONNECTIONS_MAX);
  const entries = new Map<string, Entry>();
  /** Taken out by `update`, with connections left. */
  const removed = new Set<Entry>();
  const listeners = new Set<(state: LoadBalancerState) => void>();
  let checker = options.checker ?? readyzChecker(options.tls, clock);
  let turn = 0;
  let hasBeenReady = false;
  const waiting = new Set<() => void>();
  let isClosed = false;

  const entryOf = (target: Target): Entry | undefined =>
    [...entries.values(), ...removed].find(({ backend }) => backend === target);

  const state = (): LoadBalancerState => ({
    address,
    port,
    connections: forwarder.connectionsCount,
    backends: [...entries.values()].map(({ backend, health, connections }) => ({
      ...backend,
      healthy: health.standing === 'ready',
      standing: health.standing,
      isShuttingDown: health.isShuttingDown,
      connections,
      lastError: health.lastError,
      latencyMs: health.latencyMs,
    })),
  });

  const tellChange = (): void => {
    for (const listener of listeners) listener(state());
  };

  const choose = (tried: ReadonlySet<string>): Backend | undefined => {
    const candidates = [...entries.values()].map((entry) => ({
      name: entry.backend.name,
      standing: entry.health.standing,
      connections: entry.connections,
      backend: entry.backend,
    }));
    const chosen = chooseBackend(candidates, tried, turn);
    turn = (turn + 1) % Math.max(1, candidates.length);
    return chosen?.backend;
  };

  const forwarder = new TcpForwarder({
    clock,
    budget,
    pick(_client, tried) {
      const chosen = choose(tried);
      if (chosen || tried.size > 0 || hasBeenReady || firstBackendWaitMs === 0) return chosen;
      return new Promise((resolve) => {
        const wake = (): void => {
          timer.dispose();
          waiting.delete(wake);
          resolve(choose(tried));
        };
        const timer = clock.after(firstBackendWaitMs, wake);
        waiting.add(wake);
      });
    },
    observer: {
      opened(target) {
        const entry = entryOf(target);
        if (entry) entry.connections += 1;
        metrics.opened.labels(target.name).inc();
        metrics.connections.labels(target.name).add(1);
      },
      closed(target) {
        const entry = entryOf(target);
        if (entry) entry.connections -= 1;
        if (entry?.isRemoved && entry.connections === 0) forget(entry);
        else metrics.connections.labels(target.name).add(-1);
      },
      connectFailed(target, error) {
        metrics.connectFailures.labels(target.name).inc();
        const entry = entries.get(target.name);
        if (entry) record(entry, { kind: 'unreachable', error: messageOf(error) });
      },
      refused: () => metrics.refused.inc(),
      dropped: () => metrics.dropped.inc(),
    },
  });

  const forget = (entry: Entry): void => {
    removed.delete(entry);
    entry.leaving?.dispose();
    // A backend of the same name may be there again, and has these labels now.
    if (!entries.has(entry.backend.name)) metrics.connections.remove(entry.backend.name);
  };

  /** HTTP/2 clients keep one connection for hours: without a reset they stay with a server until it is gone. */
  const leave = (entry: Entry): void => {
    entry.leaving ??= clock.after(drainGraceMs, () => {
      entry.leaving = undefined;
      const count = forwarder.resetTargets((target) => target === entry.backend);
      metrics.resets.labels(entry.backend.name).inc(count);
      if (count > 0)
        log.write('info', 'reset connections to a backend that goes away', {
          backend: entry.backend.name,
          count,
        });
    });
  };

  const record = (entry: Entry, outcome: CheckOutcome): void => {
    const before = entry.health;
    entry.health = afterCheck(before, outcome);
    const { standing, isShuttingDown, lastError } = entry.health;
    const { name } = entry.backend;
    metrics.up.labels(name).set(standing === 'ready' ? 1 : 0);
    if (standing === 'ready') hasBeenReady = true;
    if (outcome.kind === 'ready') metrics.checks.labels(name).observe(outcome.latencyMs / 1000);
    if (isShuttingDown) leave(entry);
    else if (outcome.kind === 'ready') {
      entry.leaving?.dispose();
      entry.leaving = undefined;
    }
    if (standing === before.standing && isShuttingDown === before.isShuttingDown) return;
    if (standing === 'ready') log.write('info', 'a backend is ready', { backend: name });
    else log.write('warn', 'a backend is out', { backend: name, standing, isShuttingDown, error: lastError });
    tellChange();
  };

  const check = async (entry: Entry): Promise<void> => {
    const outcome = await checker.check(entry.backend);
    // An answer that comes after the backend was taken out says nothing about one of the same name.
    if (!isClosed && !entry.isRemoved) record(entry, outcome);
  };

  const add = (backend: Backend): void => {
    const entry: Entry = {
      backend,
      health: UNTESTED,
      connections: 0,
      isRemoved: false,
      checks: { dispose: () => undefined },
      leaving: undefined,
    };
    entries.set(backend.name, entry);
    metrics.up.labels(backend.name).set(0);
    void check(entry).then(() => {
      if (isClosed || entry.isRemoved) return;
      entry.checks = every(clock, checkIntervalMs, () => check(entry));
    });
  };

  const remove = (entry: Entry): void => {
    entries.delete(entry.backend.name);
    entry.isRemoved = true;
    entry.checks.dispose();
    metrics.up.remove(entry.backend.name);
    if (entry.connections === 0) return forget(entry);
    removed.add(entry);
    leave(entry);
  };

  const update = (backends: readonly Backend[]): void => {
    const wanted = new Map(backends.map((backend) => [backend.name, backend]));
    for (const entry of [...entries.values()]) {
      const next = wanted.get(entry.backend.name);
      const isSame = next?.host === entry.backend.host && next.port === entry.backend.port;
      if (isSame) wanted.delete(entry.backend.name);
      else remove(entry);
    }
    for (const backend of wanted.values()) add({ ...backend });
    if (entries.size > 0) for (const wake of [...waiting]) wake();
    tellChange();
  };

  try {
    await forwarder.listen(address, port);
  } catch (cause) {
    checker.close();
    throw new ReasonError(
      'CannotListen',
      `the load balancer cannot listen on ${address}:${port}: ${messageOf(cause)}; end what listens there, or choose another network`,
      { cause },
    );
  }
  update(options.backends);

  return {
    registry,
    state,
    update,
    setTls(tls) {
      if (options.checker) return;
      checker.close();
      checker = readyzChecker(tls, clock);
    },
    onChange(listener) {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      listeners.clear();
      for (const wake of [...waiting]) wake();
      for (const entry of [...entries.values(), ...removed]) {
        entry.checks.dispose();
        entry.leaving?.dispose();
      }
      checker.close();
      await new Promise<void>((resolve) => {
        forwarder.destroy();
        forwarder.drain(resolve);
      });
    },
  };
};

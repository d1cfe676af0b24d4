import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { ConnectionBudget, TcpForwarder } from '../../proxy/forwarding/index.ts';
import { BackendPool, type Backend, type BackendState } from './backend-pool.ts';
import { balancerMetrics } from './balancer-metrics.ts';
import { readyzChecker, type Checker, type CheckTls } from './readyz-check.ts';

export interface LoadBalancerState {
  readonly address: string;
  readonly port: number;
  /** Where other machines reach it, too. */
  readonly advertised?: string;
  readonly connections: number;
  readonly backends: readonly BackendState[];
}

export interface LoadBalancerOptions {
  readonly address: string;
  readonly port: number;
  /** A second address, with the same port. */
  readonly advertised?: string;
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
   * How long a client may wait for a backend while there is none: all of a cluster starts at the same time, and who waits is served
   * sooner than who is reset and backs off. 0 resets.
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
  /** Listens on another second address, or on none. Connections through the one before are reset. */
  setAdvertised(address: string | undefined): Promise<void>;
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

/** A TCP load balancer for API servers; resolves when it listens. TLS goes through to the backends untouched. */
export const createLoadBalancer = async (options: LoadBalancerOptions): Promise<LoadBalancer> => {
  const { address, port, clock, log } = options;
  const registry = options.registry ?? new Registry();
  const metrics = balancerMetrics(registry);
  const listeners = new Set<(state: LoadBalancerState) => void>();
  let checker = options.checker ?? readyzChecker(options.tls, clock);
  const { firstBackendWaitMs = 0 } = options;
  const waiting = new Set<() => void>();
  let isClosed = false;

  const pool: BackendPool = new BackendPool({
    clock,
    log,
    metrics,
    checkIntervalMs: options.checkIntervalMs ?? CHECK_INTERVAL_MS,
    drainGraceMs: options.drainGraceMs ?? DRAIN_GRACE_MS,
    check: (backend) => checker.check(backend),
    reset: (backend) =>
      forwarders().reduce((sum, one) => sum + one.resetTargets((target) => target === backend), 0),
    changed() {
      for (const wake of [...waiting]) wake();
      for (const listener of listeners) listener(state());
    },
  });
  const budget = new ConnectionBudget(options.connectionsMax ?? CONNECTIONS_MAX);
  const newForwarder = (): TcpForwarder =>
    new TcpForwarder({
      clock,
      budget,
      pick(_client, tried) {
        const chosen = pool.pick(tried);
        if (chosen || tried.size > 0 || firstBackendWaitMs === 0 || pool.states().length > 0) return chosen;
        return new Promise((resolve) => {
          const wake = (): void => {
            timer.dispose();
            waiting.delete(wake);
            resolve(pool.pick(tried));
          };
          const timer = clock.after(firstBackendWaitMs, wake);
          waiting.add(wake);
        });
      },
      observer: {
        opened: (target) => pool.opened(target),
        closed: (target) => pool.closed(target),
        connectFailed: (target, error) => pool.connectFailed(target, error),
        refused: () => metrics.refused.inc(),
        dropped: () => metrics.dropped.inc(),
      },
    });
  const forwarder = newForwarder();
  let advertised: { readonly address: string; readonly forwarder: TcpForwarder } | undefined;
  const forwarders = (): readonly TcpForwarder[] => [
    forwarder,
    ...(advertised ? [advertised.forwarder] : []),
  ];
  const listen = async (on: TcpForwarder, place: string): Promise<void> => {
    try {
      await on.listen(place, port);
    } catch (cause) {
      throw new ReasonError(
        'CannotListen',
        `the load balancer cannot listen on ${place}:${port}: ${messageOf(cause)}; stop the program that uses it, or choose another ${place === address ? 'network' : 'address'}`,
        { cause },
      );
    }
  };
  const setAdvertised = async (place: string | undefined): Promise<void> => {
    if (advertised?.address === place) return;
    const next = place === undefined ? undefined : { address: place, forwarder: newForwarder() };
    if (next) await listen(next.forwarder, next.address);
    advertised?.forwarder.destroy();
    advertised = next;
  };
  const state = (): LoadBalancerState => ({
    address,
    port,
    ...(advertised && { advertised: advertised.address }),
    connections: forwarders().reduce((sum, one) => sum + one.connectionsCount, 0),
    backends: pool.states(),
  });

  try {
    await listen(forwarder, address);
    await setAdvertised(options.advertised);
  } catch (cause) {
    for (const one of forwarders()) one.destroy();
    checker.close();
    throw cause;
  }
  pool.update(options.backends);

  return {
    registry,
    state,
    update: (backends) => pool.update(backends),
    setAdvertised,
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
      pool.close();
      checker.close();
      for (const one of forwarders()) {
        one.destroy();
        await new Promise<void>((resolve) => one.drain(resolve));
      }
    },
  };
};

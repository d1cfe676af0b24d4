import type { AddressInfo } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { tlsSettings, type TlsSettings } from '../../base/node/tls-settings.ts';
import type { Registry } from '../../base/metrics/index.ts';
import { createListener, type ServingCertificates } from './api-listener.ts';
import type { HealthRegistry } from '../../component/health.ts';
import { DEFAULT_LIMITS, type ServerLimits } from './limits.ts';
import type { Stage } from './pipeline.ts';
import type { RequestInfo } from './request-info.ts';
import { createRepeatedFailures } from './repeated-failures.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { serveRequest } from './serve-request.ts';
import { TraceRing } from './trace.ts';

export interface ApiServerOptions {
  readonly certificates: ServingCertificates;
  /** The way of every request, in order. The last one answers whatever is left. */
  readonly stages: readonly Stage[];
  readonly health: HealthRegistry;
  readonly metrics: Registry;
  readonly clock: Clock;
  readonly log: Log;
  /** Versions and cipher suites; absent: the defaults. */
  readonly tls?: TlsSettings;
  readonly limits?: Partial<ServerLimits>;
  readonly traces?: TraceRing;
  readonly isServed?: (info: RequestInfo) => boolean;
}

export interface ShutdownOptions {
  /** Upstream's --shutdown-delay-duration: /readyz fails, and requests are still served. */
  readonly delayMs?: number;
  /** How long requests in flight may take to finish before they are cut. */
  readonly graceMs?: number;
}

export const SHUTDOWN_GRACE_MS = 60_000;

export interface ApiServer {
  readonly traces: TraceRing;
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Hot reload: connections that exist keep theirs. Throws, and keeps the old ones, where they do not load. */
  setCertificates(certificates: ServingCertificates): void;
  /** Fires when long-running requests must end. */
  readonly draining: AbortSignal;
  readonly requestCount: number;
  /**
   * Stops in order: /readyz fails; after the delay no new connections, GOAWAY, watches end; requests in flight
   * finish or are cut after the grace. Calls after the first share its outcome.
   */
  shutdown(options?: ShutdownOptions): Promise<void>;
}

export const createApiServer = (options: ApiServerOptions): ApiServer => {
  const { clock, log, health, stages, traces = new TraceRing() } = options;
  const limits: ServerLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const metrics = createRequestMetrics({
    registry: options.metrics,
    repeats: createRepeatedFailures(options.metrics, clock),
    ...(options.isServed && { isServed: options.isServed }),
  });
  const drain = new AbortController();
  let isStopping = false;
  let requestCount = 0;
  let stopped: Promise<void> | undefined;

  const service = { stages, clock, log, metrics, traces, requestTimeoutMs: limits.requestTimeoutMs };
  const listener = createListener({
    certificates: options.certificates,
    tls: options.tls ?? tlsSettings(),
    limits,
    clock,
    draining: drain.signal,
    async serve(exchange) {
      requestCount += 1;
      try {
        await serveRequest(service, exchange);
      } finally {
        requestCount -= 1;
      }
    },
    onHandshakeError(error) {
      metrics.tlsHandshakeErrors.inc();
      log.write('debug', 'a TLS handshake failed', { error: messageOf(error) });
    },
  });
  health.add(
    {
      name: 'shutdown',
      check() {
        if (isStopping) throw new Error('process is shutting down');
      },
    },
    ['readyz'],
  );

  const after = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (delayMs <= 0) resolve();
      else clock.after(delayMs, resolve);
    });

  const stop = async ({ delayMs = 0, graceMs = SHUTDOWN_GRACE_MS }: ShutdownOptions): Promise<void> => {
    isStopping = true;
    await after(delayMs);
    listener.stopAccepting();
    drain.abort(new Error('the server is shutting down'));
    const cut = clock.after(graceMs, () => {
      log.write('warn', 'requests are cut because the server stops', { requestCount });
      listener.destroy();
    });
    await listener.closed();
    cut.dispose();
  };

  return {
    traces,
    listen: (port, host) => listener.listen(port, host),
    setCertificates: (certificates) => listener.setCertificates(certificates),
    draining: drain.signal,
    get requestCount() {
      return requestCount;
    },
    shutdown: (shutdownOptions = {}) => (stopped ??= stop(shutdownOptions)),
  };
};

import type { Clock } from '../../base/clock.ts';
import type { ProxyMetrics } from '../metrics.ts';
import type { HttpAnswer } from '../../component/http-listener.ts';

/** Upstream: twice the sync period, which is 30 s. */
const HEALTH_TIMEOUT_MS = 60_000;

const timeText = (ms: number): string => new Date(ms).toISOString();

/**
 * Whether the proxy keeps up: a change that waits too long makes it unhealthy. `/healthz` also says whether the node
 * should get traffic at all, `/livez` does not.
 */
export class ProxyHealth {
  readonly #clock: Clock;
  readonly #metrics: ProxyMetrics;
  readonly #isNodeEligible: () => boolean;
  #lastUpdatedMs = 0;
  #pendingSinceMs: number | undefined;

  constructor(options: { readonly clock: Clock; readonly metrics: ProxyMetrics; isNodeEligible(): boolean }) {
    this.#clock = options.clock;
    this.#metrics = options.metrics;
    this.#isNodeEligible = () => options.isNodeEligible();
  }

  queued(): void {
    this.#pendingSinceMs ??= this.#clock.nowMs();
    this.#metrics.lastQueued.set(this.#clock.nowMs() / 1000);
  }

  updated(): void {
    this.#pendingSinceMs = undefined;
    this.#lastUpdatedMs = this.#clock.nowMs();
    this.#metrics.lastSynced.set(this.#clock.nowMs() / 1000);
  }

  get isHealthy(): boolean {
    const since = this.#pendingSinceMs;
    return since === undefined || this.#clock.nowMs() - since < HEALTH_TIMEOUT_MS;
  }

  answer(path: string): HttpAnswer | undefined {
    if (path !== '/healthz' && path !== '/livez') return undefined;
    const nowMs = this.#clock.nowMs();
    const nodeEligible = this.#isNodeEligible();
    const isOk = this.isHealthy && (path === '/livez' || nodeEligible);
    const code = isOk ? 200 : 503;
    (path === '/livez' ? this.#metrics.livez : this.#metrics.healthz).labels(String(code)).inc();
    // Upstream's promise to older readers: a healthy proxy says that it was updated just now.
    const lastUpdated = timeText(isOk ? nowMs : this.#lastUpdatedMs);
    const times = { lastUpdated, currentTime: timeText(nowMs) };
    return {
      code,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(path === '/livez' ? times : { ...times, nodeEligible }),
    };
  }
}

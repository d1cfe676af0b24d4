import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { CriticalMetric, MetricsHealth } from '../../contract/index.ts';
import { assessCritical } from './health/critical.ts';
import type { InFlightLimits } from '../data-folder/in-flight-limits.ts';
import { figuresOf } from './health/figures.ts';
import { drawPoints, type PeerName } from './history/charts.ts';
import { MINUTE_MS, type Histories } from './history/query.ts';
import type { Component } from './scrape/measures.ts';
import { readMeasures } from './scrape/reading.ts';
import { Window } from './scrape/window.ts';

export const SAMPLE_INTERVAL_MS = 5_000;
const SCRAPES_AT_ONCE_MAX = 8;
/** A target that takes a second to tell is asked less often: watching must not be what keeps it busy. */
const SCRAPE_SHARE_MAX = 0.2;
const SCRAPE_PAUSE_MS_MAX = 60_000;

export interface SampledTarget {
  readonly component: Component;
  readonly instance: string;
}

export interface SamplerOptions<T extends SampledTarget> {
  /** As of now: members and nodes come and go. */
  targets(): Promise<readonly T[]> | readonly T[];
  /** The pages of a target, in its own words. */
  scrape(target: T): Promise<readonly string[]>;
  limits(): Promise<InFlightLimits>;
  readonly peerName: PeerName;
  readonly histories: Histories;
  readonly intervalMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface Watch<T> {
  readonly target: T;
  readonly window: Window;
  isUp: boolean;
  lastAtMs: number | null;
  message: string;
  dueMs: number;
}

const keyOf = ({ component, instance }: SampledTarget): string => `${component}/${instance}`;

/**
 * Asks every target again and again, keeps what the charts need, and says after each round how things are. Rates and
 * quantiles are made when a sample is taken: a line is then one number a moment on disk instead of a histogram of
 * buckets, and a minute's quantile is made of the minute's own observations, not of quantiles.
 */
export class Sampler<T extends SampledTarget> implements Disposable {
  readonly #options: SamplerOptions<T>;
  readonly #watches = new Map<string, Watch<T>>();
  readonly #listeners = new Set<(health: MetricsHealth) => void>();
  #critical: readonly CriticalMetric[] = [];
  #sampledAtMs: number;
  #minute: number;
  #timer: Disposable | undefined;
  #isStopped = false;

  constructor(options: SamplerOptions<T>) {
    this.#options = options;
    this.#sampledAtMs = options.clock.nowMs();
    this.#minute = Math.floor(this.#sampledAtMs / MINUTE_MS);
    this.#critical = assessCritical([], new Map(), this.#sampledAtMs);
  }

  start(): void {
    this.#timer ??= this.#options.clock.after(0, () => void this.#run());
  }

  /** After every sample. */
  onSample(listener: (health: MetricsHealth) => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  health(): MetricsHealth {
    return {
      atMs: this.#sampledAtMs,
      critical: [...this.#critical],
      targets: [...this.#watches.values()].map(({ target, isUp, lastAtMs, message }) => ({
        component: target.component,
        instance: target.instance,
        isUp,
        lastAtMs,
        message,
      })),
    };
  }

  window(component: Component, instance: string): Window | undefined {
    return this.#watches.get(keyOf({ component, instance }))?.window;
  }

  dispose(): void {
    this.#isStopped = true;
    this.#timer?.dispose();
    this.#listeners.clear();
  }

  async #run(): Promise<void> {
    const { clock, log, intervalMs = SAMPLE_INTERVAL_MS } = this.#options;
    const beganMs = clock.monotonicMs();
    try {
      await this.#round();
    } catch (error) {
      log.write('warn', 'failed to collect metrics', { error: messageOf(error) });
    }
    if (this.#isStopped) return;
    const tookMs = clock.monotonicMs() - beganMs;
    this.#timer = clock.after(Math.max(0, intervalMs - tookMs), () => void this.#run());
  }

  async #round(): Promise<void> {
    const { clock, limits } = this.#options;
    const beganMs = clock.monotonicMs();
    this.#reconcile(await this.#options.targets());
    const due = [...this.#watches.values()].filter(({ dueMs }) => dueMs <= beganMs);
    const workers = Array.from({ length: Math.min(SCRAPES_AT_ONCE_MAX, due.length) }, async () => {
      for (let next = due.shift(); next && !this.#isStopped; next = due.shift()) await this.#scrape(next);
    });
    await Promise.all(workers);
    if (this.#isStopped) return;
    const nowMs = clock.nowMs();
    this.#sampledAtMs = nowMs;
    const watched = [...this.#watches.values()].map(({ target, window }) => ({ ...target, window }));
    const instances = watched.filter((one) => this.#watches.get(keyOf(one))?.isUp === true);
    const figures = figuresOf({ instances, nowMs: clock.monotonicMs(), limits: await limits() });
    this.#critical = assessCritical(this.#critical, figures, nowMs);
    await this.#record(nowMs, beganMs);
    const health = this.health();
    for (const listener of this.#listeners) listener(health);
  }

  #reconcile(targets: readonly T[]): void {
    const wanted = new Set(targets.map(keyOf));
    for (const key of this.#watches.keys()) if (!wanted.has(key)) this.#watches.delete(key);
    for (const target of targets) {
      const key = keyOf(target);
      const known = this.#watches.get(key);
      const kept = known ?? { window: new Window(), isUp: false, lastAtMs: null, message: '', dueMs: 0 };
      // The address of an instance may be another than it was.
      if (known?.target !== target) this.#watches.set(key, { ...kept, target });
    }
  }

  async #scrape(watch: Watch<T>): Promise<void> {
    const { clock, scrape } = this.#options;
    const beganMs = clock.monotonicMs();
    try {
      const texts = await scrape(watch.target);
      const atMs = clock.monotonicMs();
      watch.window.add(readMeasures(watch.target.component, texts, atMs));
      watch.isUp = true;
      watch.lastAtMs = clock.nowMs();
      watch.message = '';
    } catch (error) {
      watch.isUp = false;
      watch.message = messageOf(error);
    }
    const tookMs = clock.monotonicMs() - beganMs;
    const pauseMs = Math.min(SCRAPE_PAUSE_MS_MAX, tookMs / SCRAPE_SHARE_MAX);
    const { intervalMs = SAMPLE_INTERVAL_MS } = this.#options;
    // Who does not answer is asked in every round: its return must be seen.
    watch.dueMs = watch.isUp && pauseMs > intervalMs ? beganMs + pauseMs : 0;
  }

  async #record(nowMs: number, roundBeganMs: number): Promise<void> {
    const { clock, histories, peerName } = this.#options;
    const watched = [...this.#watches.values()].map(({ target, window }) => ({
      instance: target.instance,
      window,
    }));
    const points = drawPoints(watched, { span: 'last', freshMs: roundBeganMs, peerName });
    if (points.length > 0) await histories.raw.append({ atMs: nowMs, points });
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute === this.#minute) return;
    this.#minute = minute;
    const sinceMs = clock.monotonicMs() - MINUTE_MS;
    const ofMinute = drawPoints(watched, { span: { sinceMs }, freshMs: sinceMs, peerName });
    if (ofMinute.length > 0) await histories.minute.append({ atMs: nowMs, points: ofMinute });
  }
}

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../../../core/base/clock.ts';
import { toDisposable, type Disposable } from '../../../core/base/disposable.ts';
import type { ProcessSample, ProcessVitals } from '../../../core/contract/index.ts';
import { Feed } from '../../state/feed.ts';

const LISTENER_ITEMS_MAX = 16;
/** The probe's timer wakes the process: how often follows from whether a page shows it. */
const LOOP_PROBES_PER_SAMPLE = 5;
const NANOSECONDS_PER_MS = 1e6;

/** The application's processes now. CPU is since the call before. The app passes Electron's metrics. */
export type ProcessSource = () => readonly ProcessSample[];

/** How late timers fire. `takeWorstMs` forgets what it told. */
export interface LoopProbe extends Disposable {
  takeWorstMs(): number;
}

/** This process alone, for a host without Electron. */
export const nodeProcessSource = (clock: Clock): ProcessSource => {
  let before = { atMs: clock.monotonicMs(), usage: process.cpuUsage() };
  return () => {
    const now = { atMs: clock.monotonicMs(), usage: process.cpuUsage() };
    const usedMicroseconds = now.usage.user + now.usage.system - before.usage.user - before.usage.system;
    const elapsedMs = now.atMs - before.atMs;
    before = now;
    return [
      {
        pid: process.pid,
        role: 'main',
        name: 'pilothouse',
        cpuPercent: elapsedMs > 0 ? usedMicroseconds / 10 / elapsedMs : 0,
        memoryBytes: process.memoryUsage.rss(),
      },
    ];
  };
};

export const nodeLoopProbe = (resolutionMs: number): LoopProbe => {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  return {
    takeWorstMs() {
      // The histogram holds the time between ticks; only what exceeds its resolution is delay.
      const worstMs = histogram.max / NANOSECONDS_PER_MS - resolutionMs;
      histogram.reset();
      return Math.max(0, worstMs);
    },
    ...toDisposable(() => histogram.disable()),
  };
};

export interface Vitals extends Disposable {
  watch(signal: AbortSignal): AsyncIterable<ProcessVitals[]>;
  readonly listenerCount: number;
}

export interface VitalsOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly processes: ProcessSource;
  readonly openLoopProbe?: (resolutionMs: number) => LoopProbe;
}

/** Samples at one pace, only while there are listeners, and once for all listeners. */
export const createVitals = ({
  clock,
  intervalMs,
  processes,
  openLoopProbe = nodeLoopProbe,
}: VitalsOptions): Vitals => {
  let sampling: Disposable | undefined;

  const startSampling = (): Disposable => {
    const probe = openLoopProbe(intervalMs / LOOP_PROBES_PER_SAMPLE);
    let timer: Disposable | undefined;
    const sample = (): void => {
      timer = clock.after(intervalMs, sample);
      feed.publish({
        atMs: clock.nowMs(),
        eventLoopDelayMs: probe.takeWorstMs(),
        processes: [...processes()],
      });
    };
    sample();
    return toDisposable(() => {
      timer?.dispose();
      probe.dispose();
    });
  };

  const feed = new Feed<ProcessVitals>({
    listenerItemsMax: LISTENER_ITEMS_MAX,
    onHeard(heard) {
      sampling?.dispose();
      sampling = heard ? startSampling() : undefined;
    },
  });

  return {
    watch: (signal) => feed.listen(signal),
    get listenerCount() {
      return feed.listenerCount;
    },
    dispose() {
      sampling?.dispose();
      sampling = undefined;
      feed.close();
    },
  };
};

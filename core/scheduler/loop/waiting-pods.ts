import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { unschedulable, type Status } from '../framework/status.ts';
import type { SchedulerMetrics } from '../metrics/metrics.ts';
import type { PodInfo } from '../model/pod-info.ts';

interface Waiting {
  readonly info: PodInfo;
  /** Plugins that have not let it go yet, with the timers that end their patience. */
  readonly held: Map<string, Disposable>;
  readonly end: (status: Status | undefined) => void;
}

/** A plugin may not hold a pod longer than this. */
const WAIT_MAX_MS = 15 * 60_000;

/** Pods that have a node and wait for a Permit plugin to let them go. */
export class WaitingPods {
  readonly #clock: Clock;
  readonly #metrics: SchedulerMetrics;
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock, metrics: SchedulerMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  list(): readonly PodInfo[] {
    return [...this.#waiting.values()].map(({ info }) => info);
  }

  /** Resolves when all plugins let the pod go, or with the first rejection. Listed from the call on. */
  wait(info: PodInfo, waits: ReadonlyMap<string, number>): Promise<Status | undefined> {
    const fromMs = this.#clock.monotonicMs();
    return new Promise((resolve) => {
      const held = new Map<string, Disposable>();
      const end = (status: Status | undefined): void => {
        for (const timer of held.values()) timer.dispose();
        this.#waiting.delete(info.uid);
        this.#metrics.permitWait
          .labels(status ? status.code : 'Success')
          .observe((this.#clock.monotonicMs() - fromMs) / 1000);
        resolve(status);
      };
      for (const [plugin, timeoutMs] of waits)
        held.set(
          plugin,
          this.#clock.after(Math.min(timeoutMs, WAIT_MAX_MS), () =>
            this.reject(info.uid, plugin, `rejected due to timeout after waiting at plugin ${plugin}`),
          ),
        );
      this.#waiting.set(info.uid, { info, held, end });
    });
  }

  allow(uid: string, plugin: string): void {
    const waiting = this.#waiting.get(uid);
    waiting?.held.get(plugin)?.dispose();
    waiting?.held.delete(plugin);
    if (waiting?.held.size === 0) waiting.end(undefined);
  }

  /** False when the pod does not wait. */
  reject(uid: string, plugin: string, message: string): boolean {
    const waiting = this.#waiting.get(uid);
    waiting?.end(unschedulable(plugin, message));
    return waiting !== undefined;
  }

  close(): void {
    for (const uid of [...this.#waiting.keys()]) this.reject(uid, '', 'the scheduler is stopping');
  }
}

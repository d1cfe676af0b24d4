import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Algorithm } from '../algorithm/algorithm.ts';
import type { SchedulerCache } from '../cache/cache.ts';
import type { Snapshot } from '../cache/snapshot.ts';
import type { ExplanationRing } from '../explain/explanation-ring.ts';
import type { Extender } from '../framework/extender.ts';
import type { Framework } from '../framework/framework.ts';
import type { ClusterLister } from '../framework/listers.ts';
import type { SchedulerApi } from '../framework/scheduler-api.ts';
import type { SchedulerMetrics } from '../metrics/metrics.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { BoundedTasks } from './bounded-tasks.ts';
import type { WaitingPods } from './waiting-pods.ts';

/** The parts of one scheduler that its cycles share. */
export interface SchedulerContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SchedulerMetrics;
  readonly cache: SchedulerCache;
  readonly snapshot: Snapshot;
  readonly queue: SchedulingQueue;
  readonly algorithm: Algorithm;
  readonly lister: ClusterLister;
  readonly api: SchedulerApi;
  readonly extenders: readonly Extender[];
  readonly waitingPods: WaitingPods;
  readonly explanations: ExplanationRing;
  readonly profiles: ReadonlyMap<string, Framework>;
  readonly bindings: BoundedTasks;
  /** Binding cycles of pods that wait for permission; as many as waiting pods. */
  readonly waits: BoundedTasks;
  /** True once the scheduler was told to stop: what it gives back then is no verdict about a pod. */
  readonly isStopping: () => boolean;
  /** Status patches of pods that failed. */
  readonly writes: BoundedTasks;
}

export const secondsSince = (clock: Clock, fromMs: number): number => (clock.monotonicMs() - fromMs) / 1000;

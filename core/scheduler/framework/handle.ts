import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Extender } from './extender.ts';
import type { PodInfo } from '../model/pod-info.ts';
import type { SchedulerMetrics } from '../metrics/metrics.ts';
import type { SchedulerFeatures } from './features.ts';
import type { ClusterLister } from './listers.ts';
import type { Framework } from './framework.ts';
import type { SchedulerApi } from './scheduler-api.ts';

/** Pods that wait for room being made for them on a node. */
export interface Nominations {
  podsOn(nodeName: string): readonly PodInfo[];
  /** False lets a cycle skip the question for every node. */
  readonly isEmpty: boolean;
}

/** What plugins may use of the scheduler around them. */
export interface Handle {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: SchedulerMetrics;
  readonly lister: ClusterLister;
  readonly api: SchedulerApi;
  readonly nominations: Nominations;
  readonly extenders: readonly Extender[];
  readonly features: SchedulerFeatures;
  /** The profile that the plugin is part of; known once all of its plugins are made. */
  framework(): Framework;
  /** Moves these pods to the active queue, gates and hints permitting. */
  activate(uids: readonly string[]): void;
  /** Ends the wait of a pod that Permit holds. */
  allowWaitingPod(uid: string, plugin: string): void;
  rejectWaitingPod(uid: string, plugin: string, message: string): void;
  waitingPods(): readonly PodInfo[];
}

import type { QueuedPod } from '../framework/plugin.ts';
import type { PodInfo } from '../model/pod-info.ts';

/** A pod that waits, and what is known from its attempts so far. */
export interface QueuedPodInfo extends QueuedPod {
  readonly uid: string;
  info: PodInfo;
  /** When it last entered a queue, monotonic: back-off counts from here. */
  timestampMs: number;
  attempts: number;
  /** When it was first popped; the latency that users feel starts here. */
  initialAttemptMs: number | undefined;
  /** Who rejected it last; an event that concerns one of them brings it back. */
  unschedulablePlugins: ReadonlySet<string>;
  pendingPlugins: ReadonlySet<string>;
  /** The plugin whose PreEnqueue keeps it out, if any. */
  gatingPlugin: string | undefined;
}

export const queuedPod = (info: PodInfo, nowMs: number): QueuedPodInfo => ({
  uid: info.uid,
  info,
  timestampMs: nowMs,
  attempts: 0,
  initialAttemptMs: undefined,
  unschedulablePlugins: new Set(),
  pendingPlugins: new Set(),
  gatingPlugin: undefined,
});

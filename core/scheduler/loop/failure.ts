import { findCondition, formatTime, isNotFound } from '../../api/meta/index.ts';
import type { Framework } from '../framework/framework.ts';
import type { PodStatusChange } from '../framework/scheduler-api.ts';
import type { Pod, PodCondition } from '../model/objects.ts';
import { podInfoOf } from '../model/pod-info.ts';
import type { QueuedPodInfo } from '../queue/queued-pod.ts';
import { secondsSince, type SchedulerContext } from './context.ts';

export interface Failure {
  /** What the condition says: the pod fits nowhere, or something broke. */
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  readonly unschedulablePlugins?: ReadonlySet<string>;
  readonly pendingPlugins?: ReadonlySet<string>;
  /** A node to nominate; empty clears, undefined keeps what is there. */
  readonly nominatedNodeName?: string;
}

const NO_PLUGINS: ReadonlySet<string> = new Set();

/** Undefined when the pod already says so. */
const statusChange = (pod: Pod, failure: Failure, nowMs: number): PodStatusChange | undefined => {
  const before = findCondition(pod.status?.conditions, 'PodScheduled');
  const isSame =
    before?.status === 'False' && before.reason === failure.reason && before.message === failure.message;
  const { nominatedNodeName } = failure;
  const nominates =
    nominatedNodeName !== undefined && nominatedNodeName !== (pod.status?.nominatedNodeName ?? '');
  if (isSame && !nominates) return undefined;
  const condition: PodCondition = {
    type: 'PodScheduled',
    status: 'False',
    reason: failure.reason,
    message: failure.message,
    lastProbeTime: null,
    lastTransitionTime:
      before?.status === 'False' && before.lastTransitionTime ? before.lastTransitionTime : formatTime(nowMs),
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
  };
  return { ...(!isSame && { condition }), ...(nominates && { nominatedNodeName }) };
};

/** Puts the pod back into the queue, and tells the world why: event, condition, nomination. */
export const handleFailure = async (
  context: SchedulerContext,
  framework: Framework,
  queued: QueuedPodInfo,
  failure: Failure,
  startedMs: number,
): Promise<void> => {
  const { api, clock, lister, log, metrics, queue } = context;
  const result = failure.reason === 'Unschedulable' ? 'unschedulable' : 'error';
  metrics.scheduleAttempts.labels(framework.profileName, result).inc();
  metrics.attemptDuration.labels(framework.profileName, result).observe(secondsSince(clock, startedMs));
  queued.unschedulablePlugins = failure.unschedulablePlugins ?? NO_PLUGINS;
  queued.pendingPlugins = failure.pendingPlugins ?? NO_PLUGINS;

  const { namespace, pod } = queued.info;
  const current = lister.pod(namespace, pod.metadata.name ?? '');
  if (!current || current.metadata.uid !== queued.uid || current.spec.nodeName) {
    // Deleted, or bound after all: a binding whose answer was lost is told by the watch.
    queue.done(queued.uid);
    queue.nominator.delete(queued.uid);
    return;
  }
  queued.info = podInfoOf(current);
  queue.addUnschedulable(queued);
  if (failure.nominatedNodeName !== undefined) {
    queue.nominator.delete(queued.uid);
    if (failure.nominatedNodeName !== '') queue.nominator.set(queued.info, failure.nominatedNodeName);
  }
  api.event({
    pod: current,
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
    note: failure.message,
  });
  const change = statusChange(current, failure, clock.nowMs());
  if (!change) return;
  await context.writes.room();
  context.writes.start(
    api.patchPodStatus(current, change).catch((error: unknown) => {
      if (!isNotFound(error)) log.write('error', 'Error updating pod', { pod: queued.info.key, error });
    }),
  );
};

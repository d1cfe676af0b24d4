import { messageOf } from '../../base/errors.ts';
import type { Placed } from '../algorithm/algorithm.ts';
import { EVENT_ASSIGNED_POD_DELETE } from '../framework/cluster-event.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import { fitErrorMessage } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import { NodeStatuses } from '../framework/node-statuses.ts';
import { failed, isRejected, statusMessage, type Status } from '../framework/status.ts';
import { attemptsLabel } from '../metrics/metrics.ts';
import type { QueuedPodInfo } from '../queue/queued-pod.ts';
import { secondsSince, type SchedulerContext } from './context.ts';
import { handleFailure, type Failure } from './failure.ts';

export interface Attempt {
  readonly framework: Framework;
  readonly cycle: CycleState;
  readonly queued: QueuedPodInfo;
  readonly placed: Placed;
  readonly startedMs: number;
}

/** A pod that a Permit or Reserve plugin turned down: the sentence is about its one node. */
export const rejectionFailure = (status: Status): Failure => {
  if (!isRejected(status)) return { reason: 'SchedulerError', message: statusMessage(status) };
  const statuses = new NodeStatuses();
  statuses.add(0, status);
  const plugins = new Set(status.plugin ? [status.plugin] : []);
  return {
    reason: 'Unschedulable',
    message: fitErrorMessage({ nodeCount: 1, statuses, absent: undefined, preFilterMessage: '' }),
    ...(status.code === 'Pending' ? { pendingPlugins: plugins } : { unschedulablePlugins: plugins }),
    nominatedNodeName: '',
  };
};

/** Gives back what the pod held, and tells those who may use it. */
export const giveUp = async (
  context: SchedulerContext,
  attempt: Attempt,
  failure: Failure,
): Promise<void> => {
  const { cache, queue } = context;
  const { framework, cycle, queued, placed, startedMs } = attempt;
  const { info } = queued;
  framework.unreserve(cycle, info, placed.nodeName);
  // The watch may have told of the binding before its answer was lost: then the pod is where it should be.
  const wasAssumed = cache.isAssumed(info.uid);
  if (wasAssumed) cache.forgetPod(info.uid);
  const told = { ...info.pod, spec: { ...info.pod.spec, nodeName: placed.nodeName } };
  const mayMove = failure.reason === 'Unschedulable' ? (uid: string) => uid !== info.uid : undefined;
  await handleFailure(context, framework, queued, failure, startedMs);
  if (wasAssumed)
    queue.moveAll(EVENT_ASSIGNED_POD_DELETE, told, undefined, mayMove && (({ uid }) => mayMove(uid)));
};

const bindBy = async (context: SchedulerContext, attempt: Attempt): Promise<Status | undefined> => {
  const { framework, cycle, queued, placed } = attempt;
  const binder = context.extenders.find(
    (extender) => extender.isBinder && extender.isInterested(queued.info.pod),
  );
  if (!binder) return framework.bind(cycle, queued.info, placed.nodeName);
  try {
    await binder.bind(queued.info.pod, placed.nodeName);
    return undefined;
  } catch (error) {
    return failed(binder.name, messageOf(error), error);
  }
};

/** From the wait for permission to the bound pod. Runs while the next pods are scheduled; never throws. */
export const runBindingCycle = async (
  context: SchedulerContext,
  attempt: Attempt,
  permission: Promise<Status | undefined> | undefined,
): Promise<void> => {
  const { api, cache, clock, log, metrics, queue } = context;
  const { framework, cycle, queued, placed, startedMs } = attempt;
  const { info } = queued;
  try {
    const refusal = await permission;
    if (refusal && context.isStopping()) {
      framework.unreserve(cycle, info, placed.nodeName);
      if (cache.isAssumed(info.uid)) cache.forgetPod(info.uid);
      queue.done(info.uid);
      return;
    }
    if (refusal) return await giveUp(context, attempt, rejectionFailure(refusal));
    // From here on a failure is no verdict about the pod: events need not be kept for it.
    queue.done(info.uid);
    const status =
      (await framework.preBind(cycle, info, placed.nodeName)) ?? (await bindBy(context, attempt));
    if (status) {
      const message = `binding rejected: ${statusMessage(status)}`;
      return await giveUp(context, attempt, { reason: 'SchedulerError', message });
    }
    cache.finishBinding(info.uid);
    metrics.scheduleAttempts.labels(framework.profileName, 'scheduled').inc();
    metrics.attemptDuration
      .labels(framework.profileName, 'scheduled')
      .observe(secondsSince(clock, startedMs));
    metrics.podSchedulingAttempts.observe(queued.attempts);
    if (queued.initialAttemptMs !== undefined)
      metrics.podSchedulingSli
        .labels(attemptsLabel(queued.attempts))
        .observe(secondsSince(clock, queued.initialAttemptMs));
    api.event({
      pod: info.pod,
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: `Successfully assigned ${info.key} to ${placed.nodeName}`,
    });
    framework.postBind(cycle, info, placed.nodeName);
  } catch (error) {
    log.write('error', 'A binding cycle broke', { pod: info.key, error });
    if (cache.isAssumed(info.uid)) cache.forgetPod(info.uid);
    queue.done(info.uid);
  }
};

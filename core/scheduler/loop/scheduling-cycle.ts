import type { Decision, Unplaced } from '../algorithm/algorithm.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { fitErrorMessage, NO_NODES_MESSAGE } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import { statusMessage } from '../framework/status.ts';
import { explain, type Preemption } from '../explain/explanation.ts';
import type { QueuedPodInfo } from '../queue/queued-pod.ts';
import { giveUp, rejectionFailure, runBindingCycle, type Attempt } from './binding-cycle.ts';
import type { SchedulerContext } from './context.ts';
import { handleFailure, type Failure } from './failure.ts';

/** Preemption may make room; either way the pod has failed for now. */
const afterUnplaced = async (
  framework: Framework,
  cycle: CycleState,
  queued: QueuedPodInfo,
  { diagnosis }: Unplaced,
): Promise<Failure> => {
  const plugins = {
    unschedulablePlugins: diagnosis.unschedulablePlugins,
    pendingPlugins: diagnosis.pendingPlugins,
  };
  if (framework.at('PostFilter').length === 0)
    return { reason: 'Unschedulable', message: fitErrorMessage(diagnosis), ...plugins };
  const result = await framework.postFilter(cycle, queued.info, diagnosis);
  return {
    reason: 'Unschedulable',
    message: fitErrorMessage(diagnosis, result.message ?? statusMessage(result.status)),
    ...plugins,
    ...(result.nominatedNodeName !== undefined && { nominatedNodeName: result.nominatedNodeName }),
  };
};

const preemptionOf = ({ nominatedNodeName, message }: Failure): Preemption | undefined =>
  nominatedNodeName ? { nominatedNodeName, message } : undefined;

/** Chooses a node for one pod and hands it to its binding cycle. One at a time. */
export const runSchedulingCycle = async (context: SchedulerContext, queued: QueuedPodInfo): Promise<void> => {
  const { cache, clock, queue, snapshot, metrics, explanations } = context;
  const { info } = queued;
  const framework = context.profiles.get(info.pod.spec.schedulerName ?? '');
  if (!framework || skips(context, queued)) {
    queue.done(info.uid);
    return;
  }
  const startedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  cache.updateSnapshot(snapshot);
  const cycle = new CycleState(snapshot);
  const note = (decision: Decision, failure?: Failure): void => {
    const preemption = failure && preemptionOf(failure);
    explanations.add(
      explain(snapshot, decision, {
        pod: info,
        profile: framework.profileName,
        attempt: queued.attempts,
        startedAtMs,
        durationsMs: { algorithm: algorithmMs, total: clock.monotonicMs() - startedMs },
        ...(failure && { message: failure.message }),
        ...(preemption && { preemption }),
      }),
    );
  };
  const decision: Decision =
    snapshot.nodeCount === 0
      ? {
          kind: 'error',
          status: { code: 'Unschedulable', reasons: [NO_NODES_MESSAGE], plugin: '' },
        }
      : await context.algorithm.decide(framework, cycle, info, { keepRaw: true, moveStart: true });
  const algorithmMs = clock.monotonicMs() - startedMs;
  metrics.algorithmDuration.observe(algorithmMs / 1000);
  if (decision.kind !== 'placed') {
    const failure: Failure =
      decision.kind === 'unschedulable'
        ? await afterUnplaced(framework, cycle, queued, decision)
        : {
            reason: decision.status.code === 'Unschedulable' ? 'Unschedulable' : 'SchedulerError',
            message: statusMessage(decision.status),
          };
    note(decision, failure);
    await handleFailure(context, framework, queued, failure, startedMs);
    return;
  }
  note(decision);
  cache.assumePod(info, decision.nodeName);
  queue.nominator.delete(info.uid);
  const attempt: Attempt = { framework, cycle, queued, placed: decision, startedMs };
  const refusal = framework.reserve(cycle, info, decision.nodeName);
  if (refusal) {
    await giveUp(context, attempt, rejectionFailure(refusal));
    return;
  }
  const { status, waits } = framework.permit(cycle, info, decision.nodeName);
  if (status) {
    await giveUp(context, attempt, rejectionFailure(status));
    return;
  }
  // A pod that waits for permission holds no place among the bindings: others may be what it waits for.
  if (waits.size > 0) {
    const permission = context.waitingPods.wait(info, waits);
    context.waits.start(runBindingCycle(context, attempt, permission));
    return;
  }
  await context.bindings.room();
  context.bindings.start(runBindingCycle(context, attempt, undefined));
};

/** Pods that are going, or that this scheduler is already binding. */
const skips = ({ api, cache }: SchedulerContext, { info }: QueuedPodInfo): boolean => {
  if (info.terminating) {
    api.event({
      pod: info.pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: `skip schedule deleting pod: ${info.key}`,
    });
    return true;
  }
  return cache.getPod(info.uid) !== undefined;
};

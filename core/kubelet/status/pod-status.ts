import { formatTime } from '../../api/meta/time.ts';
import type { V1ContainerStatus, V1Pod, V1PodStatus } from '../../api/schema/index.ts';
import type { ContainerRecord } from '../containers/container-record.ts';
import { kubeletConditions, KUBELET_CONDITIONS, settleConditions, type Draft } from './conditions.ts';
import { containerStatus } from './container-status.ts';
import { isTerminalPhase, podPhase, type PodPhase } from './phase.ts';

export interface PodStatusInput {
  readonly pod: V1Pod;
  readonly records: readonly ContainerRecord[];
  readonly nowMs: number;
  readonly startedMs: number;
  readonly hostIP: string;
  /** Empty until there is a sandbox. */
  readonly podIPs: readonly string[];
  readonly isSandboxReady: boolean;
  /** Containers are not started again. */
  readonly isTerminating: boolean;
  /** Some may still run: a terminal phase is not told before. */
  readonly couldRun: boolean;
  readonly isStatic: boolean;
  /** Eviction, deadline, preemption: the pod has failed for a reason of the node's. */
  readonly verdict:
    { readonly reason: string; readonly message: string; readonly isDisruption?: boolean } | undefined;
  /** Resizes that wait or are in progress. */
  readonly resize?: readonly Draft[];
  /** What was last told, for times that must not move. */
  readonly before: V1PodStatus | undefined;
}

const byKind = (input: PodStatusInput, kinds: readonly ContainerRecord['kind'][]): V1ContainerStatus[] =>
  input.records
    .filter((record) => kinds.includes(record.kind))
    .map((record) => containerStatus(input.pod, record));

const phaseOf = (
  input: PodStatusInput,
  statuses: ReadonlyMap<string, V1ContainerStatus>,
  init: boolean,
): PodPhase => {
  const { pod } = input;
  const known = (input.before?.phase ?? pod.status?.phase) as PodPhase | undefined;
  if (known !== undefined && isTerminalPhase(known)) return known;
  const phase = input.verdict
    ? 'Failed'
    : podPhase({
        pod,
        statuses,
        isTerminating: input.isTerminating,
        isStatic: input.isStatic,
        hasInitialized: init,
      });
  if (input.couldRun) return isTerminalPhase(phase) ? (known ?? 'Pending') : phase;
  // Stopped before it could begin: a pod that is over has to say so, or its deletion would wait for ever.
  return input.isStatic || isTerminalPhase(phase) ? phase : 'Failed';
};

const disruption = (message: string): Draft => ({
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'TerminationByKubelet',
  message,
});

/** The status that the API is told: a function of what is known, with times that move only when something did. */
export const podStatus = (input: PodStatusInput): V1PodStatus => {
  const { pod, before, nowMs } = input;
  const initContainerStatuses = byKind(input, ['init', 'sidecar']);
  const containerStatuses = byKind(input, ['main']);
  const ephemeralContainerStatuses = byKind(input, ['ephemeral']);
  const statuses = new Map([...initContainerStatuses, ...containerStatuses].map((s) => [s.name, s]));
  const hasInitialized = input.records.some(
    (record) => record.kind === 'main' && record.current !== undefined,
  );
  const phase = phaseOf(input, statuses, hasInitialized);
  const now = formatTime(nowMs);
  const own = settleConditions(
    [
      ...kubeletConditions({ pod, phase, statuses, isSandboxReady: input.isSandboxReady, hasInitialized }),
      ...(input.resize ?? []),
      ...(input.verdict?.isDisruption === true ? [disruption(input.verdict.message)] : []),
    ],
    { before: before?.conditions ?? pod.status?.conditions, pod, now },
  );
  const foreign = (pod.status?.conditions ?? []).filter(
    ({ type }) => !KUBELET_CONDITIONS.includes(type) && !own.some((one) => one.type === type),
  );
  const [podIP] = input.podIPs;
  const verdict = isTerminalPhase(phase) ? input.verdict : undefined;
  const samePhase = before?.phase === phase ? before : pod.status?.phase === phase ? pod.status : undefined;
  const reason = verdict?.reason ?? samePhase?.reason;
  const message = verdict?.message ?? samePhase?.message;
  const qosClass = pod.status?.qosClass;
  const generation = pod.metadata?.generation;
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    conditions: [...foreign, ...own],
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    hostIP: input.hostIP,
    hostIPs: [{ ip: input.hostIP }],
    ...(podIP !== undefined && { podIP, podIPs: input.podIPs.map((ip) => ({ ip })) }),
    startTime: pod.status?.startTime ?? before?.startTime ?? formatTime(input.startedMs),
    ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
    containerStatuses,
    ...(ephemeralContainerStatuses.length > 0 && { ephemeralContainerStatuses }),
    ...(qosClass !== undefined && { qosClass }),
  };
};

import type { V1ContainerStatus, V1Pod } from '../../api/schema/index.ts';
import { isSidecar } from '../containers/container-record.ts';
import { shouldRestart } from '../containers/restart-policy.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export const isTerminalPhase = (phase: string | undefined): boolean =>
  phase === 'Succeeded' || phase === 'Failed';

export interface PhaseInput {
  readonly pod: V1Pod;
  /** Init and main containers. */
  readonly statuses: ReadonlyMap<string, V1ContainerStatus>;
  /** Containers will not be started again whatever the policy says. */
  readonly isTerminating: boolean;
  readonly isStatic: boolean;
  /** A main container has run: sidecars that restart do not take the pod back to Pending. */
  readonly hasInitialized: boolean;
}

const isFailedForGood = (input: PhaseInput): boolean =>
  (input.pod.spec?.initContainers ?? []).some((container) => {
    if (isSidecar(container)) return false;
    const status = input.statuses.get(container.name);
    const ended = status?.state?.terminated ?? (status?.state?.waiting && status.lastState?.terminated);
    return (
      ended !== undefined && ended.exitCode !== 0 && !shouldRestart(input.pod, container, ended.exitCode)
    );
  });

const isInitializing = (input: PhaseInput): boolean =>
  (input.pod.spec?.initContainers ?? []).some((container) => {
    const status = input.statuses.get(container.name);
    if (!isSidecar(container)) {
      if (status?.state?.terminated) return false;
      return !(status?.state?.waiting && status.lastState?.terminated);
    }
    if (input.hasInitialized) return false;
    if (status?.state?.running) return status.started !== true;
    return !(status?.state?.terminated ?? status?.lastState?.terminated);
  });

interface Tally {
  running: number;
  waiting: number;
  stopped: number;
  stoppedForGood: number;
  succeeded: number;
  unknown: number;
}

const tally = (input: PhaseInput): Tally => {
  const counts: Tally = { running: 0, waiting: 0, stopped: 0, stoppedForGood: 0, succeeded: 0, unknown: 0 };
  for (const container of (input.pod.spec?.initContainers ?? []).filter(isSidecar)) {
    const state = input.statuses.get(container.name);
    if (!state) counts.unknown += 1;
    else if (state.state?.running) counts.running += 1;
    else if (state.state?.waiting && !state.lastState?.terminated) counts.waiting += 1;
  }
  for (const container of input.pod.spec?.containers ?? []) {
    const status = input.statuses.get(container.name);
    const terminated = status?.state?.terminated;
    const lastTerminated = status?.state?.waiting && status.lastState?.terminated;
    const ended = terminated ?? lastTerminated;
    if (!status) counts.unknown += 1;
    else if (status.state?.running) counts.running += 1;
    else if (ended) {
      counts.stopped += 1;
      if (!shouldRestart(input.pod, container, ended.exitCode)) counts.stoppedForGood += 1;
      if (terminated?.exitCode === 0) counts.succeeded += 1;
    } else counts.waiting += 1;
  }
  return counts;
};

/** The phase as upstream's kubelet works it out from the states of the containers. */
export const podPhase = (input: PhaseInput): PodPhase => {
  if (isFailedForGood(input)) return 'Failed';
  const counts = tally(input);
  if (isInitializing(input) || counts.waiting > 0) return 'Pending';
  if (counts.unknown > 0) return 'Pending';
  if (counts.running > 0) return 'Running';
  if (counts.stopped === 0) return 'Pending';
  const outcome = counts.stopped === counts.succeeded ? 'Succeeded' : 'Failed';
  if (input.isTerminating && !input.isStatic) return outcome;
  return counts.stopped === counts.stoppedForGood ? outcome : 'Running';
};

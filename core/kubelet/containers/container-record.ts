import type {
  V1Container,
  V1ContainerStateTerminated,
  V1ContainerStatus,
  V1Pod,
  V1ResourceRequirements,
} from '../../api/schema/index.ts';
import type {
  AdoptedContainer,
  ContainerKind,
  ContainerExit,
  RunningContainer,
} from '../runtimes/runtime.ts';
import type { ContainerLog } from '../runtimes/container-log.ts';
import { terminatedState } from './terminated-state.ts';
import type { BackOffEntry } from './back-off.ts';

/** One start of a container, running or exited. */
export interface Incarnation {
  readonly container: RunningContainer;
  readonly imageID: string;
  readonly startedMs: number;
  exit: (ContainerExit & { readonly finishedMs: number }) | undefined;
}

/** What the kubelet knows of one container of a pod. Everything that is optional is absent in a quiet pod. */
export interface ContainerRecord {
  spec: V1Container;
  readonly kind: ContainerKind;
  current: Incarnation | undefined;
  /** Image, configuration and start are in progress. */
  isStarting: boolean;
  /** It is being stopped, and the exit that follows is ours. */
  isStopping: boolean;
  /** A probe or a changed definition ended it: it starts again whatever its exit code is. */
  mustRestart: boolean;
  /** Why it does not run although it should. */
  waiting: { readonly reason: string; readonly message?: string } | undefined;
  /** The exit before the current incarnation. */
  last: V1ContainerStateTerminated | undefined;
  lastLog: ContainerLog | undefined;
  /** A state that was read from the API and is kept: it ended before this kubelet began. */
  inherited: V1ContainerStateTerminated | undefined;
  restartCount: number;
  /** Resources that the container runs with; others are allocated while they differ. */
  applied: V1ResourceRequirements | undefined;
  /** The startup probe has succeeded, or there is none and it runs. */
  isStarted: boolean;
  isReady: boolean;
  backOff: BackOffEntry | undefined;
  imageBackOff: BackOffEntry | undefined;
  imageFailure: { readonly reason: string; readonly message: string; readonly atMs: number } | undefined;
  /** Configuration errors are tried again from here on. */
  retryAtMs: number;
}

export const isSidecar = (container: V1Container): boolean => container.restartPolicy === 'Always';

/** Every container of a pod with its kind, in the order of the specification. */
export const containersOf = (
  pod: V1Pod,
): readonly { readonly spec: V1Container; readonly kind: ContainerKind }[] => [
  ...(pod.spec?.initContainers ?? []).map((spec) => ({
    spec,
    kind: isSidecar(spec) ? ('sidecar' as const) : ('init' as const),
  })),
  ...(pod.spec?.containers ?? []).map((spec) => ({ spec, kind: 'main' as const })),
  ...(pod.spec?.ephemeralContainers ?? []).map((spec) => ({
    spec: spec as V1Container,
    kind: 'ephemeral' as const,
  })),
];

/** What upstream says of a container that ran before the kubelet restarted and cannot be found any more. */
export const LOST_CONTAINER: V1ContainerStateTerminated = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
};

const statusOf = (pod: V1Pod, name: string): V1ContainerStatus | undefined =>
  [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
    ...(pod.status?.ephemeralContainerStatuses ?? []),
  ].find((status) => status.name === name);

/**
 * The record of a container that this kubelet has not started yet. Counts and exits that the API knows are taken
 * over: after a restart of the kubelet the sandbox is new, so what ran is lost, and what had ended stays so.
 */
export const newRecord = (pod: V1Pod, spec: V1Container, kind: ContainerKind): ContainerRecord => {
  const known = statusOf(pod, spec.name);
  const wasRunning = known?.state?.running !== undefined;
  const ended = known?.state?.terminated;
  const lost = wasRunning
    ? { ...LOST_CONTAINER, ...(known.containerID !== undefined && { containerID: known.containerID }) }
    : undefined;
  // Init containers run again in the new sandbox, as they do upstream after a reboot.
  const inherited = kind === 'main' || kind === 'ephemeral' ? (ended ?? lost) : undefined;
  return {
    spec,
    kind,
    current: undefined,
    isStarting: false,
    isStopping: false,
    mustRestart: false,
    waiting: undefined,
    last:
      inherited === undefined
        ? (lost ?? ended ?? known?.lastState?.terminated)
        : known?.lastState?.terminated,
    lastLog: undefined,
    inherited,
    restartCount: (known?.restartCount ?? 0) + (inherited === undefined && (lost ?? ended) ? 1 : 0),
    applied: undefined,
    isStarted: false,
    isReady: false,
    backOff: undefined,
    imageBackOff: undefined,
    imageFailure: undefined,
    retryAtMs: 0,
  };
};

/** The number of the next start: what the restart count will be. */
export const nextAttempt = ({ current, inherited, restartCount }: ContainerRecord): number =>
  restartCount + (current || inherited ? 1 : 0);

/** Takes over what an earlier kubelet started; the runtime knows better than the API what became of it. */
export const adoptInto = (record: ContainerRecord, pod: V1Pod, found: AdoptedContainer): void => {
  const known = statusOf(pod, record.spec.name);
  const { previous } = found;
  const isSame = known?.containerID === found.container.id;
  record.current = incarnationOf(found);
  record.applied = (isSame ? known?.resources : undefined) ?? record.spec.resources;
  record.inherited = undefined;
  record.last = (previous && terminatedState(incarnationOf(previous))) ?? known?.lastState?.terminated;
  record.lastLog = previous?.container.log;
  record.restartCount = found.attempt;
  record.isStarted = isSame && known?.started === true;
  record.isReady = isSame && known?.ready === true;
};

/**
 * Its sandbox has ended: containers begin again in the next one, init containers first, and keep their counts. Those
 * that have ended for good stay so.
 */
export const leaveSandbox = (record: ContainerRecord): void => {
  const { current } = record;
  if (!current) return;
  const ended = terminatedState(current);
  record.lastLog = current.container.log;
  record.current = undefined;
  if (record.kind === 'main' || record.kind === 'ephemeral') record.inherited = ended;
  else if (ended) {
    record.last = ended;
    record.restartCount += 1;
  }
};

const incarnationOf = ({ container, imageID, startedMs, exit }: AdoptedContainer): Incarnation => ({
  container,
  imageID,
  startedMs,
  exit,
});

export const isRunning = (record: ContainerRecord): boolean =>
  record.current !== undefined && record.current.exit === undefined;

/** The exit code of a container that does not run now; undefined when it runs or has never run. */
export const exitCodeOf = (record: ContainerRecord): number | undefined =>
  record.current ? record.current.exit?.exitCode : record.inherited?.exitCode;

import { createHash } from 'node:crypto';
import { quantityFrom } from '../../../api/quantity/index.ts';
import type { V1AppArmorProfile, V1Container, V1Pod, V1SeccompProfile } from '../../../api/schema/index.ts';
import { configError } from '../../volumes/errors.ts';
import { mustNotBeRoot } from '../non-root.ts';
import { groupsOf } from '../pod-groups.ts';
import { expandReferences } from '../../volumes/environment.ts';
import type { ContainerRequest } from '../runtime.ts';
import { MESSAGE_PATH_DEFAULT } from '../termination-message.ts';
import type {
  ContainerConfig,
  ContainerSecurity,
  CriImage,
  CriMount,
  Labels,
  LinuxResources,
  SecurityProfile,
} from './messages.ts';
import {
  CONTAINER_NAME_LABEL,
  namespacesOf,
  NODE_LABEL,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
  qosOf,
} from './sandbox-config.ts';

export const HASH_ANNOTATION = 'io.kubernetes.container.hash';
export const RESTART_COUNT_ANNOTATION = 'io.kubernetes.container.restartCount';
export const MESSAGE_PATH_ANNOTATION = 'io.kubernetes.container.terminationMessagePath';
export const MESSAGE_POLICY_ANNOTATION = 'io.kubernetes.container.terminationMessagePolicy';
/** Ours: the image as the pod named it, and the file on the host behind the termination message. */
export const IMAGE_ANNOTATION = 'pilothouse.dev/image';
export const MESSAGE_FILE_ANNOTATION = 'pilothouse.dev/termination-message-file';

const CPU_PERIOD_MICROSECONDS = 100_000;
const CPU_QUOTA_MICROSECONDS_MIN = 1_000;
const CPU_SHARES_PER_CPU = 1_024;
const CPU_SHARES_MIN = 2;
const CPU_SHARES_MAX = 262_144;
const OOM_GUARANTEED = -997;
const OOM_BEST_EFFORT = 1_000;
const NODE_CRITICAL = 2_000_001_000;

const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READ_ONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

const oomScoreAdjust = (pod: V1Pod, container: V1Container, capacityBytes: number): number => {
  if ((pod.spec?.priority ?? 0) >= NODE_CRITICAL) return OOM_GUARANTEED;
  const qos = qosOf(pod);
  if (qos === 'Guaranteed') return OOM_GUARANTEED;
  if (qos === 'BestEffort') return OOM_BEST_EFFORT;
  const bytes = quantityFrom(container.resources?.requests?.['memory']).toNumber();
  const score = OOM_BEST_EFFORT - Math.trunc((1_000 * bytes) / capacityBytes);
  return Math.min(Math.max(score, 1_000 + OOM_GUARANTEED), OOM_BEST_EFFORT - 1);
};

/** Requests become shares, limits a quota and a bound, as upstream computes them. */
export const linuxResources = (pod: V1Pod, container: V1Container, capacityBytes: number): LinuxResources => {
  const { requests, limits } = container.resources ?? {};
  const limitMillis = quantityFrom(limits?.['cpu']).toNumber() * 1_000;
  const requestMillis = quantityFrom(requests?.['cpu'] ?? limits?.['cpu']).toNumber() * 1_000;
  const shares = Math.trunc((requestMillis * CPU_SHARES_PER_CPU) / 1_000);
  return {
    cpuPeriod: CPU_PERIOD_MICROSECONDS,
    cpuQuota:
      limitMillis === 0
        ? 0
        : Math.max(CPU_QUOTA_MICROSECONDS_MIN, Math.trunc((limitMillis * CPU_PERIOD_MICROSECONDS) / 1_000)),
    cpuShares: Math.min(Math.max(shares, CPU_SHARES_MIN), CPU_SHARES_MAX),
    memoryBytes: quantityFrom(limits?.['memory']).toNumber(),
    oomScoreAdjust: oomScoreAdjust(pod, container, capacityBytes),
  };
};

const profileOf = (
  profile: V1SeccompProfile | V1AppArmorProfile | undefined,
  root: string,
): SecurityProfile | undefined => {
  if (!profile) return undefined;
  if (profile.type === 'RuntimeDefault') return { type: 0 };
  return profile.type === 'Localhost'
    ? { type: 2, localhostRef: root + (profile.localhostProfile ?? '') }
    : { type: 1 };
};

export interface ContainerPlaces {
  /** For seccomp profiles of type Localhost. */
  readonly root: string;
  readonly memoryCapacityBytes: number;
  /** The container whose processes an ephemeral container sees. */
  readonly targetId?: string;
}

/** VolumeError `CreateContainerConfigError` where a container that must not be root would be. */
const assertNotRoot = (pod: V1Pod, container: V1Container, image: CriImage): void => {
  if (!mustNotBeRoot(pod, container)) return;
  if ((container.securityContext?.runAsUser ?? pod.spec?.securityContext?.runAsUser) !== undefined) return;
  if (image.username !== '')
    throw configError(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root`,
    );
  if ((image.uid ?? 0) === 0) throw configError('container has runAsNonRoot and image will run as root');
};

export const containerSecurity = (
  pod: V1Pod,
  container: V1Container,
  image: CriImage,
  { root, targetId }: ContainerPlaces,
): ContainerSecurity => {
  assertNotRoot(pod, container, image);
  const own = container.securityContext ?? {};
  const shared = pod.spec?.securityContext ?? {};
  const isPrivileged = own.privileged === true;
  const isUnmasked = own.procMount === 'Unmasked';
  const runAsUser = own.runAsUser ?? shared.runAsUser ?? image.uid;
  return {
    addCapabilities: own.capabilities?.add ?? [],
    dropCapabilities: own.capabilities?.drop ?? [],
    isPrivileged,
    namespaces: namespacesOf(pod, targetId),
    runAsUser,
    runAsUsername: runAsUser === undefined ? image.username : '',
    runAsGroup: own.runAsGroup ?? shared.runAsGroup,
    isReadOnlyRoot: own.readOnlyRootFilesystem === true,
    supplementalGroups: groupsOf(pod),
    noNewPrivileges: own.allowPrivilegeEscalation === false,
    maskedPaths: isUnmasked ? [] : MASKED_PATHS,
    readOnlyPaths: isUnmasked ? [] : READ_ONLY_PATHS,
    seccomp: isPrivileged
      ? { type: 1 }
      : (profileOf(own.seccompProfile ?? shared.seccompProfile, `${root}/seccomp/`) ?? { type: 1 }),
    appArmor: profileOf(own.appArmorProfile ?? shared.appArmorProfile, ''),
  };
};

const hashOf = ({ name, image }: V1Container): string =>
  createHash('sha256')
    .update(JSON.stringify([name, image]))
    .digest('hex')
    .slice(0, 8);

const annotationsOf = (request: ContainerRequest, messageFile: string): Labels => {
  const { pod, container, attempt } = request;
  const grace = pod.spec?.terminationGracePeriodSeconds;
  return {
    [HASH_ANNOTATION]: hashOf(container),
    [RESTART_COUNT_ANNOTATION]: String(attempt),
    [MESSAGE_PATH_ANNOTATION]: container.terminationMessagePath ?? MESSAGE_PATH_DEFAULT,
    [MESSAGE_POLICY_ANNOTATION]: container.terminationMessagePolicy ?? 'File',
    [IMAGE_ANNOTATION]: container.image ?? '',
    [MESSAGE_FILE_ANNOTATION]: messageFile,
    ...(grace !== undefined && { 'io.kubernetes.pod.terminationGracePeriod': String(grace) }),
    ...(container.ports && { 'io.kubernetes.container.ports': JSON.stringify(container.ports) }),
    ...(container.lifecycle?.preStop && {
      'io.kubernetes.container.preStopHandler': JSON.stringify(container.lifecycle.preStop),
    }),
  };
};

export const containerConfig = (
  request: ContainerRequest,
  nodeKey: string,
  image: CriImage,
  mounts: readonly CriMount[],
  messageFile: string,
  places: ContainerPlaces,
): ContainerConfig => {
  const { pod, container, environment, attempt } = request;
  const expand = (words: readonly string[] | undefined): readonly string[] =>
    (words ?? []).map((word) => expandReferences(word, environment));
  return {
    name: container.name,
    attempt,
    imageRef: image.id,
    imageAsNamed: container.image ?? '',
    command: expand(container.command),
    args: expand(container.args),
    workingDirectory: container.workingDir ?? '',
    environment,
    mounts,
    labels: {
      [POD_NAME_LABEL]: pod.metadata?.name ?? '',
      [POD_NAMESPACE_LABEL]: pod.metadata?.namespace ?? '',
      [POD_UID_LABEL]: pod.metadata?.uid ?? '',
      [CONTAINER_NAME_LABEL]: container.name,
      [NODE_LABEL]: nodeKey,
    },
    annotations: annotationsOf(request, messageFile),
    logPath: `${container.name}/${attempt}.log`,
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    resources: linuxResources(pod, container, places.memoryCapacityBytes),
    security: containerSecurity(pod, container, image, places),
  };
};

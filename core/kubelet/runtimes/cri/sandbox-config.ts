import { quantityFrom } from '../../../api/quantity/index.ts';
import type { V1Container, V1Pod } from '../../../api/schema/index.ts';
import { podNames } from '../../dns/hosts-file.ts';
import { groupsOf } from '../pod-groups.ts';
import type { SandboxRequest } from '../runtime.ts';
import type { Labels, NamespaceOptions, SandboxConfig } from './messages.ts';

export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';
/** Ours: several nodes may share one container runtime, and each sees only its own pods. */
export const NODE_LABEL = 'pilothouse.dev/node';

const PROTOCOLS = { TCP: 0, UDP: 1, SCTP: 2 } as const;

export const allContainers = ({ spec }: V1Pod): readonly V1Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** As the API server computes it, for pods whose status does not say. */
export const qosOf = (pod: V1Pod): QosClass => {
  if (pod.status?.qosClass) return pod.status.qosClass as QosClass;
  const amounts = allContainers(pod).map(({ resources }) => ({
    requests: { ...resources?.limits, ...resources?.requests },
    limits: resources?.limits ?? {},
  }));
  const isZero = (amount: string | number | undefined): boolean => quantityFrom(amount).sign === 0;
  const names = ['cpu', 'memory'];
  if (amounts.every(({ requests }) => names.every((name) => isZero(requests[name])))) return 'BestEffort';
  const isGuaranteed = amounts.every(({ requests, limits }) =>
    names.every(
      (name) =>
        !isZero(limits[name]) && quantityFrom(limits[name]).nanos === quantityFrom(requests[name]).nanos,
    ),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
};

/** Below the cgroup root, as the cgroupfs driver names it. */
export const cgroupParentOf = (pod: V1Pod, root: string): string => {
  const qos = qosOf(pod);
  const tier = qos === 'Guaranteed' ? '' : `/${qos.toLowerCase()}`;
  return `${root.replace(/\/$/, '')}/kubepods${tier}/pod${pod.metadata?.uid ?? ''}`;
};

export const podLabels = (pod: V1Pod, nodeKey: string): Labels => ({
  ...pod.metadata?.labels,
  [POD_NAME_LABEL]: pod.metadata?.name ?? '',
  [POD_NAMESPACE_LABEL]: pod.metadata?.namespace ?? '',
  [POD_UID_LABEL]: pod.metadata?.uid ?? '',
  [NODE_LABEL]: nodeKey,
});

export const namespacesOf = ({ spec }: V1Pod, targetId?: string): NamespaceOptions => ({
  network: spec?.hostNetwork === true ? 2 : 0,
  ipc: spec?.hostIPC === true ? 2 : 0,
  pid: targetId !== undefined ? 3 : spec?.hostPID === true ? 2 : spec?.shareProcessNamespace === true ? 0 : 1,
  ...(targetId !== undefined && { targetId }),
});

/** `<namespace>_<name>_<uid>` below the folder of pod logs. */
export const podLogFolder = ({ metadata }: V1Pod): string =>
  `${metadata?.namespace ?? ''}_${metadata?.name ?? ''}_${metadata?.uid ?? ''}`;

export interface SandboxPlaces {
  readonly podLogs: string;
  readonly cgroupRoot: string;
  /** What pods of this node are found by. */
  readonly nodeKey: string;
}

export const sandboxConfig = (
  request: SandboxRequest,
  { podLogs, cgroupRoot, nodeKey }: SandboxPlaces,
): SandboxConfig => {
  const { pod, dns, clusterDomain, attempt } = request;
  const { metadata, spec } = pod;
  const isHostNetwork = spec?.hostNetwork === true;
  const { hostname, fullName } = podNames(pod, clusterDomain);
  const security = spec?.securityContext;
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    namespace: metadata?.namespace ?? '',
    attempt,
    hostname: isHostNetwork ? '' : spec?.setHostnameAsFQDN === true ? (fullName ?? hostname) : hostname,
    logDirectory: `${podLogs}/${podLogFolder(pod)}`,
    dns,
    ports: (spec?.containers ?? []).flatMap(({ ports }) =>
      (ports ?? []).map(({ protocol, containerPort, hostPort, hostIP }) => ({
        protocol: PROTOCOLS[protocol as keyof typeof PROTOCOLS] ?? 0,
        containerPort,
        hostPort: hostPort ?? 0,
        hostIP: hostIP ?? '',
      })),
    ),
    labels: podLabels(pod, nodeKey),
    annotations: metadata?.annotations ?? {},
    cgroupParent: cgroupParentOf(pod, cgroupRoot),
    sysctls: Object.fromEntries((security?.sysctls ?? []).map(({ name, value }) => [name, value])),
    namespaces: namespacesOf(pod),
    isPrivileged: allContainers(pod).some(({ securityContext }) => securityContext?.privileged === true),
    runAsUser: security?.runAsUser,
    runAsGroup: security?.runAsGroup,
    supplementalGroups: groupsOf(pod),
  };
};

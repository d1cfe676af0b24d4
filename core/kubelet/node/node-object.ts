import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { V1Node, V1NodeCondition, V1NodeStatus, V1Taint } from '../../api/schema/index.ts';
import type { Pressure } from '../eviction/pressure.ts';
import type { ImageInfo } from '../runtimes/runtime.ts';

/** What a node is, as anyone who composes the cluster decides it. */
export interface NodeIdentity {
  readonly name: string;
  readonly hostIP: string;
  readonly hostname?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly V1Taint[];
  readonly capacity: Readonly<Record<string, string>>;
  /** What pods may take; all of the capacity without it. */
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly podCIDR?: string;
  readonly providerID?: string;
  /** Waits for a cloud-controller-manager before pods may come. */
  readonly hasExternalCloud?: boolean;
  readonly kubeletPort: number;
  /** A simulated machine without it. */
  readonly machine?: {
    readonly kernelVersion: string;
    readonly osImage: string;
    readonly machineID: string;
    readonly bootID: string;
    readonly hasAppArmor: boolean;
  };
  /** `v1.36.0` */
  readonly kubeletVersion: string;
  /** `simulated://1.0.0` */
  readonly runtimeVersion: string;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
const IMAGES_SHOWN_MAX = 50;
export const UNINITIALIZED_TAINT: V1Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

const uuidOf = (name: string, purpose: string): string => {
  const hex = createHash('sha256').update(`${purpose}/${name}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
};

export const nodeLabels = (identity: NodeIdentity): Record<string, string> => {
  const arch = ARCHITECTURES[process.arch] ?? process.arch;
  return {
    'beta.kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
    'kubernetes.io/hostname': identity.hostname ?? identity.name,
    'kubernetes.io/os': 'linux',
    ...identity.labels,
  };
};

export const allocatableOf = (identity: NodeIdentity): Readonly<Record<string, string>> =>
  identity.allocatable ?? identity.capacity;

export interface NodeHealth {
  /** Why the node is not ready; undefined if it is. */
  readonly problem?: string;
  /** What runs out. */
  readonly pressures?: readonly Pressure[];
}

const conditionTexts = (health: NodeHealth): readonly Omit<V1NodeCondition, 'lastTransitionTime'>[] => [
  health.pressures?.includes('MemoryPressure')
    ? {
        type: 'MemoryPressure',
        status: 'True',
        reason: 'KubeletHasInsufficientMemory',
        message: 'kubelet has insufficient memory available',
      }
    : {
        type: 'MemoryPressure',
        status: 'False',
        reason: 'KubeletHasSufficientMemory',
        message: 'kubelet has sufficient memory available',
      },
  health.pressures?.includes('DiskPressure')
    ? {
        type: 'DiskPressure',
        status: 'True',
        reason: 'KubeletHasDiskPressure',
        message: 'kubelet has disk pressure',
      }
    : {
        type: 'DiskPressure',
        status: 'False',
        reason: 'KubeletHasNoDiskPressure',
        message: 'kubelet has no disk pressure',
      },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
  health.problem === undefined
    ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
    : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: health.problem },
];

export const nodeConditions = (
  before: readonly V1NodeCondition[] | undefined,
  health: NodeHealth,
  now: string,
): V1NodeCondition[] =>
  conditionTexts(health).map((condition) => {
    const old = before?.find(({ type }) => type === condition.type);
    const isSame = old?.status === condition.status && old.lastTransitionTime !== undefined;
    return {
      ...condition,
      lastHeartbeatTime: now,
      lastTransitionTime: isSame ? old.lastTransitionTime! : now,
    };
  });

export interface NodeStatusInput {
  readonly identity: NodeIdentity;
  readonly before: V1NodeStatus | undefined;
  readonly images: readonly ImageInfo[];
  readonly health: NodeHealth;
  readonly now: string;
  /** Changes with every start of the process, as a boot does. */
  readonly bootID: string;
}

const machineInfo = ({ machine }: NodeIdentity) => {
  if (!machine) return {};
  const { kernelVersion, osImage, machineID, bootID } = machine;
  return { kernelVersion, osImage, machineID, bootID };
};

export const nodeStatus = ({
  identity,
  before,
  images,
  health,
  now,
  bootID,
}: NodeStatusInput): V1NodeStatus => ({
  capacity: { ...identity.capacity },
  allocatable: { ...allocatableOf(identity) },
  conditions: nodeConditions(before?.conditions, health, now),
  addresses: [
    { type: 'InternalIP', address: identity.hostIP },
    { type: 'Hostname', address: identity.hostname ?? identity.name },
  ],
  daemonEndpoints: { kubeletEndpoint: { Port: identity.kubeletPort } },
  nodeInfo: {
    machineID: createHash('sha256').update(identity.name).digest('hex').slice(0, 32),
    systemUUID: uuidOf(identity.name, 'system'),
    bootID,
    kernelVersion: '6.6.0-simulated',
    osImage: 'Pilothouse simulated node',
    ...machineInfo(identity),
    containerRuntimeVersion: identity.runtimeVersion,
    kubeletVersion: identity.kubeletVersion,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
  },
  images: [...images]
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, IMAGES_SHOWN_MAX)
    .map(({ image, imageID, sizeBytes }) => ({ names: [imageID, image], sizeBytes })),
});

/** What of a status is worth a write immediately. A server gives back fields in its own order, and leaves out what is empty. */
const essenceOf = (status: V1NodeStatus | undefined, types: ReadonlySet<string>): unknown => ({
  capacity: status?.capacity ?? {},
  allocatable: status?.allocatable ?? {},
  conditions: Object.fromEntries(
    (status?.conditions ?? [])
      .filter(({ type }) => types.has(type))
      .map(({ type, status: value, reason, message }) => [type, { value, reason, message }]),
  ),
  images: (status?.images ?? []).map(({ names }) => names?.[0]),
  bootID: status?.nodeInfo?.bootID,
  kubeletVersion: status?.nodeInfo?.kubeletVersion,
});

/** Whether a kubelet that would say `next` has something to say to a server that has `before`. */
export const isStatusNews = (before: V1NodeStatus | undefined, next: V1NodeStatus): boolean => {
  // Conditions of others, such as a route controller's, are none of the kubelet's.
  const types = new Set(next.conditions?.map(({ type }) => type));
  return !isDeepStrictEqual(essenceOf(before, types), essenceOf(next, types));
};

/** The object that a kubelet registers itself with. */
export const initialNode = (input: NodeStatusInput): V1Node => {
  const { identity } = input;
  const taints = [...(identity.taints ?? []), ...(identity.hasExternalCloud ? [UNINITIALIZED_TAINT] : [])];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: identity.name,
      labels: nodeLabels(identity),
      annotations: {
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
        ...(identity.hasExternalCloud && { 'alpha.kubernetes.io/provided-node-ip': identity.hostIP }),
        ...identity.annotations,
      },
    },
    spec: {
      ...(identity.podCIDR !== undefined && { podCIDR: identity.podCIDR, podCIDRs: [identity.podCIDR] }),
      ...(identity.providerID !== undefined && { providerID: identity.providerID }),
      ...(taints.length > 0 && { taints: taints.map((taint) => ({ ...taint })) }),
    },
    status: nodeStatus(input),
  };
};

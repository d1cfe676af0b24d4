import type { LabelSelectorObject } from '../../api/selector/index.ts';
import type { ObjectMeta } from '../../api/meta/index.ts';

/** The fields of the API that scheduling reads. Objects come from informers and are never written to. */
export type ResourceList = Readonly<Record<string, string | number>>;

export interface ContainerPort {
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: string;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
  readonly ports?: readonly ContainerPort[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

export interface PreferredSchedulingTerm {
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}

export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelectorObject;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelectorObject;
  readonly topologyKey: string;
}

export interface WeightedPodAffinityTerm {
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}

export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelectorObject;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
  readonly matchLabelKeys?: readonly string[];
}

export interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly ephemeral?: { readonly volumeClaimTemplate?: unknown };
  readonly image?: { readonly reference?: string };
  readonly gcePersistentDisk?: { readonly pdName: string; readonly readOnly?: boolean };
  readonly awsElasticBlockStore?: { readonly volumeID: string };
  readonly azureDisk?: { readonly diskURI: string };
  readonly azureFile?: { readonly secretName: string; readonly shareName: string };
  readonly cinder?: { readonly volumeID: string };
  readonly vsphereVolume?: { readonly volumePath: string };
  readonly portworxVolume?: { readonly volumeID: string };
  readonly iscsi?: { readonly iqn: string; readonly readOnly?: boolean };
  readonly rbd?: {
    readonly monitors: readonly string[];
    readonly pool?: string;
    readonly image: string;
    readonly readOnly?: boolean;
  };
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly schedulerName?: string;
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: ResourceList;
  readonly resources?: { readonly requests?: ResourceList };
  readonly volumes?: readonly PodVolume[];
  readonly hostNetwork?: boolean;
}

export interface ContainerStatus {
  readonly name: string;
  readonly allocatedResources?: ResourceList;
  readonly resources?: { readonly requests?: ResourceList };
}

export interface PodStatus {
  readonly phase?: string;
  readonly startTime?: string;
  readonly nominatedNodeName?: string;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface Pod {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface Node {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly allocatable?: ResourceList;
    readonly capacity?: ResourceList;
    readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[];
    readonly conditions?: readonly PodCondition[];
  };
}

export const LABEL_HOSTNAME = 'kubernetes.io/hostname';
export const LABEL_ZONE = 'topology.kubernetes.io/zone';
export const LABEL_REGION = 'topology.kubernetes.io/region';
export const DEFAULT_SCHEDULER_NAME = 'default-scheduler';

export const podKey = (pod: { readonly metadata: Readonly<ObjectMeta> }): string =>
  `${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`;

/** Pods that ended hold no resources. */
export const isTerminal = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

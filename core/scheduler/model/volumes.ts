import type { LabelSelectorObject } from '../../api/selector/index.ts';
import type { ObjectMeta } from '../../api/meta/index.ts';
import type { NodeSelector, PodVolume, ResourceList } from './objects.ts';

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface PersistentVolumeClaim {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: {
    readonly accessModes?: readonly string[];
    readonly selector?: LabelSelectorObject;
    readonly resources?: { readonly requests?: ResourceList };
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly volumeName?: string;
  };
  readonly status?: { readonly phase?: string };
}

export interface PersistentVolume {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: {
    readonly accessModes?: readonly string[];
    readonly capacity?: ResourceList;
    readonly claimRef?: ObjectReference;
    readonly nodeAffinity?: { readonly required?: NodeSelector };
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
  } & InTreeSource;
  readonly status?: { readonly phase?: string };
}

/** Where a volume is, in the kinds that CSI drivers have taken over; a pod may name them as well. */
export type InTreeSource = Pick<
  PodVolume,
  | 'gcePersistentDisk'
  | 'awsElasticBlockStore'
  | 'azureDisk'
  | 'azureFile'
  | 'cinder'
  | 'vsphereVolume'
  | 'portworxVolume'
>;

export interface CsiNode {
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: {
    readonly drivers?: readonly {
      readonly name: string;
      readonly allocatable?: { readonly count?: number };
    }[];
  };
}

export interface StorageClass {
  readonly metadata: Readonly<ObjectMeta>;
  readonly provisioner?: string;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly {
    readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
  }[];
}

export interface CsiDriver {
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: { readonly storageCapacity?: boolean };
}

export interface CsiStorageCapacity {
  readonly metadata: Readonly<ObjectMeta>;
  readonly storageClassName?: string;
  readonly capacity?: string | number;
  readonly maximumVolumeSize?: string | number;
  readonly nodeTopology?: LabelSelectorObject;
}

export const ANNOTATION_BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
export const ANNOTATION_BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const ANNOTATION_SELECTED_NODE = 'volume.kubernetes.io/selected-node';
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner';
const ANNOTATION_STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class';

/** The annotation is from before the field, and still wins. */
export const classOfClaim = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[ANNOTATION_STORAGE_CLASS] ?? spec?.storageClassName ?? '';

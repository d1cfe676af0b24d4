import type { LabelSelectorObject } from '../../api/selector/index.ts';
import type { ObjectMeta } from '../../api/meta/index.ts';
import type { NodeSelector, ResourceList } from './objects.ts';

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
  };
  readonly status?: { readonly phase?: string };
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

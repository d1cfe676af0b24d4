import type { Labels, LabelSelectorObject } from '../../api/selector/index.ts';
import type { ObjectMeta } from '../../api/meta/index.ts';
import type { Node, Pod } from '../model/objects.ts';
import type {
  CsiDriver,
  CsiNode,
  CsiStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../model/volumes.ts';

export interface PodDisruptionBudget {
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: { readonly selector?: LabelSelectorObject };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly disruptedPods?: Readonly<Record<string, unknown>>;
  };
}

/** Workloads that select pods: what default spreading groups pods by. */
export interface PodSelecting {
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: { readonly selector?: unknown };
}

export interface PodGroup {
  readonly metadata: Readonly<ObjectMeta>;
  readonly spec?: { readonly minMember?: number; readonly scheduleTimeoutSeconds?: number };
}

/** What plugins read besides nodes and the pods on them: caches of informers, never a call to the server. */
export interface ClusterLister {
  namespaceLabels(namespace: string): Labels | undefined;
  services(namespace: string): readonly PodSelecting[];
  owner(kind: string, namespace: string, name: string): PodSelecting | undefined;
  podDisruptionBudgets(): readonly PodDisruptionBudget[];
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  volumes(): readonly PersistentVolume[];
  storageClass(name: string): StorageClass | undefined;
  csiDriver(name: string): CsiDriver | undefined;
  csiNode(name: string): CsiNode | undefined;
  csiStorageCapacities(): readonly CsiStorageCapacity[];
  pod(namespace: string, name: string): Pod | undefined;
  pods(namespace: string): readonly Pod[];
  node(name: string): Node | undefined;
  podGroup(namespace: string, name: string): PodGroup | undefined;
}

/** For callers that have nodes and pods alone: simulations and benches. */
export const emptyLister: ClusterLister = {
  namespaceLabels: () => undefined,
  services: () => [],
  owner: () => undefined,
  podDisruptionBudgets: () => [],
  claim: () => undefined,
  volume: () => undefined,
  volumes: () => [],
  storageClass: () => undefined,
  csiDriver: () => undefined,
  csiNode: () => undefined,
  csiStorageCapacities: () => [],
  pod: () => undefined,
  pods: () => [],
  node: () => undefined,
  podGroup: () => undefined,
};

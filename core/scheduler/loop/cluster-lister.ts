import type { Informer, InformerFactory, Kind, Stored } from '../../client/index.ts';
import {
  CSI_DRIVER,
  CSI_NODE,
  CSI_STORAGE_CAPACITY,
  NAMESPACE,
  NODE,
  PERSISTENT_VOLUME,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  POD_DISRUPTION_BUDGET,
  REPLICA_SET,
  REPLICATION_CONTROLLER,
  SERVICE,
  STATEFUL_SET,
  STORAGE_CLASS,
} from '../../client/index.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { ClusterLister, PodGroup, PodSelecting } from '../framework/listers.ts';

/** The CRD of the coscheduling project; served only where it was installed. */
export const POD_GROUP: Kind = {
  group: 'scheduling.x-k8s.io',
  version: 'v1alpha1',
  kind: 'PodGroup',
  plural: 'podgroups',
  namespaced: true,
};

const OWNERS: Readonly<Record<string, Kind>> = {
  ReplicaSet: REPLICA_SET as Kind,
  StatefulSet: STATEFUL_SET as Kind,
  ReplicationController: REPLICATION_CONTROLLER as Kind,
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Every informer of the scheduler, asked for at the same time so that one `whenSynced` covers them all. The generated
 * types of the API and the narrow ones of `model/` describe the same objects: the cast is made here, once.
 */
export const clusterInformers = (
  factory: InformerFactory,
  options: { readonly podGroups: boolean },
): {
  readonly lister: ClusterLister;
  readonly informer: (kind: Kind) => Informer<KubernetesObject>;
  /** Also resolves, without that, when `signal` is aborted. */
  readonly whenSynced: (signal: AbortSignal) => Promise<void>;
} => {
  const informers = new Map<Kind, Informer<KubernetesObject>>();
  const kinds = [
    POD,
    NODE,
    NAMESPACE,
    SERVICE,
    REPLICA_SET,
    STATEFUL_SET,
    REPLICATION_CONTROLLER,
    POD_DISRUPTION_BUDGET,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    CSI_NODE,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    ...(options.podGroups ? [POD_GROUP] : []),
  ] as readonly Kind[];
  for (const kind of kinds) informers.set(kind, factory.informer(kind));
  const informer = (kind: Kind): Informer<KubernetesObject> => informers.get(kind) ?? factory.informer(kind);
  const find = <T>(kind: unknown, namespace: string | undefined, name: string): T | undefined =>
    informers.get(kind as Kind)?.store.find(namespace, name) as T | undefined;
  const all = <T>(kind: unknown): readonly T[] =>
    (informers.get(kind as Kind)?.store.list() ?? []) as unknown as readonly T[];
  const inNamespace = <T>(kind: unknown, namespace: string): readonly T[] =>
    (informers.get(kind as Kind)?.store.inNamespace(namespace) ?? []) as unknown as readonly T[];
  const lister: ClusterLister = {
    namespaceLabels: (namespace) => find<Stored>(NAMESPACE, undefined, namespace)?.metadata.labels,
    services: (namespace) => inNamespace(SERVICE, namespace),
    owner: (kind, namespace, name) => find<PodSelecting>(OWNERS[kind], namespace, name),
    podDisruptionBudgets: () => all(POD_DISRUPTION_BUDGET),
    claim: (namespace, name) => find(PERSISTENT_VOLUME_CLAIM, namespace, name),
    volume: (name) => find(PERSISTENT_VOLUME, undefined, name),
    volumes: () => all(PERSISTENT_VOLUME),
    storageClass: (name) => find(STORAGE_CLASS, undefined, name),
    csiDriver: (name) => find(CSI_DRIVER, undefined, name),
    csiNode: (name) => find(CSI_NODE, undefined, name),
    csiStorageCapacities: () => all(CSI_STORAGE_CAPACITY),
    pod: (namespace, name) => find(POD, namespace, name),
    pods: (namespace) => inNamespace(POD, namespace),
    node: (name) => find(NODE, undefined, name),
    podGroup: (namespace, name) => find<PodGroup>(POD_GROUP, namespace, name),
  };
  return {
    lister,
    informer,
    async whenSynced(signal) {
      // Where the CRD is not served its informer never syncs; groups are then told by labels alone.
      const needed = kinds.filter((kind) => kind !== POD_GROUP);
      const synced = Promise.all(needed.map((kind) => informer(kind).whenSynced()));
      await Promise.race([synced, aborted(signal)]);
    },
  };
};

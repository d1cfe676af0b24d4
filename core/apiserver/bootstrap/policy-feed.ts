import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { GroupResource, KubernetesObject } from '../../api/meta/index.ts';
import { podForGraph } from '../authz/node/pod-references.ts';
import { volumeForGraph } from '../authz/node/volume-references.ts';
import type { Binding, ClusterRole, RbacKind } from '../authz/rbac/types.ts';
import type { NodeGraph } from '../authz/node/node-graph.ts';
import type { PolicyIndex } from '../authz/rbac/policy-index.ts';
import type { OwnedKind } from '../authz/node/node-graph.ts';
import { RBAC_GROUP } from '../authz/rbac/types.ts';
import type { Follower, InternalInformer } from '../informer/internal-informer.ts';

/** One resource and the index that follows it. */
interface Sink extends Follower {
  readonly resource: GroupResource;
}

const nameOf = ({ metadata }: KubernetesObject): { readonly namespace: string; readonly name: string } => ({
  namespace: metadata?.namespace ?? '',
  name: metadata?.name ?? '',
});

const policySinks = (policy: PolicyIndex): Sink[] => {
  const sink = (kind: RbacKind, resource: string, upsert: (object: KubernetesObject) => void): Sink => ({
    resource: { group: RBAC_GROUP, resource },
    upsert,
    remove: (object) => policy.delete(kind, nameOf(object)),
  });
  return [
    sink('ClusterRole', 'clusterroles', (one) => policy.upsertClusterRole(one as unknown as ClusterRole)),
    sink('Role', 'roles', (one) => policy.upsertRole(one as unknown as ClusterRole)),
    sink('ClusterRoleBinding', 'clusterrolebindings', (one) =>
      policy.upsertClusterRoleBinding(one as unknown as Binding),
    ),
    sink('RoleBinding', 'rolebindings', (one) => policy.upsertRoleBinding(one as unknown as Binding)),
  ];
};

const graphSinks = (graph: NodeGraph): Sink[] => {
  const owned = (kind: OwnedKind, group: string, resource: string): Sink => ({
    resource: { group, resource },
    upsert(object) {
      const { nodeName = '' } = (object['spec'] ?? {}) as { readonly nodeName?: string };
      graph.setOwner(kind, nameOf(object), nodeName);
    },
    remove: (object) => graph.setOwner(kind, nameOf(object), ''),
  });
  return [
    {
      resource: { group: '', resource: 'pods' },
      upsert: (object) => graph.upsertPod(podForGraph(object)),
      remove: (object) => graph.deletePod(nameOf(object)),
    },
    {
      resource: { group: '', resource: 'persistentvolumes' },
      upsert: (object) => graph.upsertVolume(volumeForGraph(object)),
      remove: (object) => graph.deleteVolume(nameOf(object).name),
    },
    owned('volumeattachment', 'storage.k8s.io', 'volumeattachments'),
    owned('resourceslice', 'resource.k8s.io', 'resourceslices'),
    owned('podcertificaterequest', 'certificates.k8s.io', 'podcertificaterequests'),
  ];
};

export interface PolicyFeedOptions {
  readonly informer: InternalInformer;
  readonly policy: PolicyIndex;
  readonly graph: NodeGraph;
}

export interface PolicyFeed extends Disposable {
  /** Resolves when the roles and bindings that were there at the start are known. */
  readonly policyReady: Promise<void>;
  /** Resolves when everything is. */
  readonly ready: Promise<void>;
}

/** Feeds the authorizers from the watch caches. What this server does not serve is left out. */
export const startPolicyFeed = ({ informer, policy, graph }: PolicyFeedOptions): PolicyFeed => {
  const owned = new DisposableStore();
  const start = (sink: Sink): Promise<void> => owned.add(informer.follow(sink.resource, sink)).ready;
  const policies = policySinks(policy).map(start);
  const graphs = graphSinks(graph).map(start);
  return {
    policyReady: Promise.all(policies).then(() => undefined),
    ready: Promise.all([...policies, ...graphs]).then(() => undefined),
    dispose: () => owned.dispose(),
  };
};

import { groupBy } from '../base/group-by.ts';
import type { GraphEdge, GraphNode } from '../contract/index.ts';

/** Shared by many applications: shown where one of them uses it, but not a way to the others. */
const SHARED: ReadonlySet<string> = new Set([
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'Role',
  'ClusterRole',
  'RoleBinding',
  'ClusterRoleBinding',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Node',
  'IngressClass',
]);
/** They apply to whatever they select: nor are these a way to other applications. */
const APPLYING: ReadonlySet<string> = new Set(['NetworkPolicy', 'ResourceQuota', 'PodDisruptionBudget']);

export interface Picture {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** What belongs to one object: what it is made of and needs, and what leads to it. */
export const applicationOf = ({ nodes, edges }: Picture, focus: string): Picture => {
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
  const outgoing = groupBy(edges, ({ from }) => from);
  const incoming = groupBy(edges, ({ to }) => to);
  const reached = new Set([focus]);
  const queue = [focus];
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    const kind = kinds.get(id) ?? '';
    const isFocus = id === focus;
    const next = [
      ...(isFocus || !APPLYING.has(kind) ? (outgoing.get(id) ?? []).map(({ to }) => to) : []).filter(
        // An Ingress may serve several applications.
        (to) => isFocus || kind !== 'Ingress' || kinds.get(to) !== 'Service',
      ),
      ...(isFocus || !SHARED.has(kind) ? (incoming.get(id) ?? []).map(({ from }) => from) : []),
    ];
    for (const other of next)
      if (!reached.has(other)) {
        reached.add(other);
        queue.push(other);
      }
  }
  return {
    nodes: nodes.filter(({ id }) => reached.has(id)),
    edges: edges.filter(({ from, to }) => reached.has(from) && reached.has(to)),
  };
};

/** Objects that nothing in the namespace refers to are not part of any application. */
const ONLY_IF_USED: ReadonlySet<string> = new Set([
  'Node',
  'PersistentVolume',
  'StorageClass',
  'IngressClass',
  'ClusterRole',
  'ClusterRoleBinding',
]);

/** Everything in the namespace, and what it uses of the cluster. */
export const namespaceOf = ({ nodes, edges }: Picture): Picture => {
  const kept = new Set(nodes.filter(({ kind }) => !ONLY_IF_USED.has(kind)).map(({ id }) => id));
  const outgoing = groupBy(edges, ({ from }) => from);
  const queue = [...kept];
  for (let id = queue.shift(); id !== undefined; id = queue.shift())
    for (const { to } of outgoing.get(id) ?? [])
      if (!kept.has(to)) {
        kept.add(to);
        queue.push(to);
      }
  return {
    nodes: nodes.filter(({ id }) => kept.has(id)),
    edges: edges.filter(({ from, to }) => kept.has(from) && kept.has(to)),
  };
};

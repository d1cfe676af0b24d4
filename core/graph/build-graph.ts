import { GRAPH_NODES_MAX, type GraphView } from '../contract/index.ts';
import { addAccess } from './access.ts';
import { joinAlike } from './alike.ts';
import { applicationOf, namespaceOf, type Picture } from './application.ts';
import { GraphBuilder, type GraphInput } from './graph-builder.ts';
import { addLimits } from './limits.ts';
import { addNetwork } from './network.ts';
import { addPolicies } from './policies.ts';
import { addStorage } from './storage.ts';
import { addWorkloads } from './workloads.ts';

/** Objects that every namespace gets automatically; they are shown where something is wrong with them. */
const isFurniture = (kind: string, name: string): boolean =>
  (kind === 'ConfigMap' && name === 'kube-root-ca.crt') || (kind === 'ServiceAccount' && name === 'default');

const RANK = { broken: 0, missing: 0, waiting: 1, ok: 2 } as const;

/** Everything that is wrong first, then by kind and name. */
const ordered = ({ nodes, edges }: Picture): Picture => ({
  nodes: [...nodes].sort((a, b) => RANK[a.state] - RANK[b.state] || (a.id < b.id ? -1 : 1)),
  edges,
});

/**
 * The graph of one object, or of the whole namespace where `focus` is undefined. Undefined: there is no such object.
 * Objects must be of one namespace, or of none.
 */
export const buildGraph = (
  input: GraphInput,
  focus: string | undefined,
): Pick<GraphView, 'nodes' | 'edges' | 'isCut'> | undefined => {
  const builder = new GraphBuilder(input);
  addWorkloads(builder);
  addNetwork(builder);
  addPolicies(builder);
  addStorage(builder);
  addAccess(builder);
  addLimits(builder);
  if (focus !== undefined && !builder.nodes.has(focus)) return undefined;
  const all = { nodes: [...builder.nodes.values()], edges: [...builder.edges.values()] };
  const scoped = focus === undefined ? namespaceOf(all) : applicationOf(all, focus);
  const broken = new Set(
    scoped.edges.filter(({ reasons }) => reasons.length > 0).flatMap(({ from, to }) => [from, to]),
  );
  const isShown = ({ id, kind, name, state }: Picture['nodes'][number]): boolean =>
    id === focus || state !== 'ok' || broken.has(id) || !isFurniture(kind, name);
  const shown = new Set(scoped.nodes.filter(isShown).map(({ id }) => id));
  const { nodes, edges } = ordered(
    joinAlike(
      {
        nodes: scoped.nodes.filter(({ id }) => shown.has(id)),
        edges: scoped.edges.filter(({ from, to }) => shown.has(from) && shown.has(to)),
      },
      focus,
    ),
  );
  const kept = nodes.slice(0, GRAPH_NODES_MAX);
  const keptIds = new Set(kept.map(({ id }) => id));
  return {
    nodes: kept,
    edges: edges.filter(({ from, to }) => keptIds.has(from) && keptIds.has(to)),
    isCut: kept.length < nodes.length,
  };
};

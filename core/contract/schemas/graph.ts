import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { clusterRef } from './kube.ts';

/** What one picture may hold; a namespace with more is shown in part. */
export const GRAPH_NODES_MAX = 1500;
const GRAPH_EDGES_MAX = 12_000;
const text = v.pipe(v.string(), v.maxLength(512));

/** Why something does not work, and what to do about it. */
export const graphReason = v.object({
  severity: v.picklist(['error', 'warning']),
  what: said,
  fix: said,
  /** A command line that repairs or inspects it; null: there is none. */
  command: v.nullable(v.string()),
});
export type GraphReason = v.InferOutput<typeof graphReason>;

export const graphNode = v.object({
  /** `Kind/namespace/name`. */
  id: v.string(),
  group: v.string(),
  kind: v.string(),
  namespace: v.string(),
  name: v.string(),
  state: v.picklist(['ok', 'waiting', 'broken', 'missing']),
  /** `2/3`, a phase, an amount: as kubectl shows it. */
  figures: v.string(),
  reasons: v.array(graphReason),
  /** Objects that look the same from here, where the node stands for several; their names. */
  members: v.array(v.string()),
});
export type GraphNode = v.InferOutput<typeof graphNode>;

export const GRAPH_RELATIONS = [
  'owns',
  'selects',
  'publishes',
  'reaches',
  'routes',
  'mounts',
  'reads',
  'pulls',
  'claims',
  'binds',
  'provisions',
  'runsAs',
  'isBound',
  'grants',
  'scales',
  'limits',
  'protects',
  'isolates',
  'runsOn',
] as const;
export type GraphRelation = (typeof GRAPH_RELATIONS)[number];

export const graphEdge = v.object({
  from: v.string(),
  to: v.string(),
  relation: v.picklist(GRAPH_RELATIONS),
  reasons: v.array(graphReason),
});
export type GraphEdge = v.InferOutput<typeof graphEdge>;

/** Kind and name empty: everything in the namespace. */
export const graphQuery = v.object({ cluster: clusterRef, namespace: text, kind: text, name: text });
export type GraphQuery = v.InferOutput<typeof graphQuery>;

export const graphView = v.object({
  nodes: v.pipe(v.array(graphNode), v.maxLength(GRAPH_NODES_MAX)),
  edges: v.pipe(v.array(graphEdge), v.maxLength(GRAPH_EDGES_MAX)),
  /** What could not be read, and what is therefore not judged. */
  gaps: v.array(said),
  isCut: v.boolean(),
});
export type GraphView = v.InferOutput<typeof graphView>;

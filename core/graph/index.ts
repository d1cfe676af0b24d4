export { buildGraph } from './build-graph.ts';
export { idOf } from './graph-builder.ts';
export type { Denial, GraphInput } from './graph-builder.ts';
export { GRAPH_KIND_NAMES, GRAPH_KINDS, graphKindOf, isGraphKind } from './kinds.ts';
export type { GraphKind } from './kinds.ts';
export { isUnplaced } from './scheduling.ts';
export { graphTree } from './tree.ts';

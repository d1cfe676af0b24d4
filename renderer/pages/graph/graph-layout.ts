import dagre from '@dagrejs/dagre';
import type { GraphEdge, GraphNode } from '../../../core/contract/index.ts';

export const NODE_WIDTH = 188;
export const NODE_HEIGHT = 48;
const RANK_GAP = 36;
const NODE_GAP = 12;
const ISLAND_GAP = 40;
/** Beyond this the order of a rank is good enough, and the best takes too long. */
const EXACT_NODES_MAX = 120;
/** Twice as wide as high: about the shape of a window. */
const ASPECT = 2;

/** Used by many applications: drawn beside each of them, so that lines do not cross the whole picture. */
const REPEATED: ReadonlySet<string> = new Set([
  'ResourceQuota',
  'NetworkPolicy',
  'ServiceAccount',
  'RoleBinding',
  'ClusterRoleBinding',
  'Role',
  'ClusterRole',
  'StorageClass',
  'IngressClass',
  'Node',
]);

export interface PlacedNode {
  /** Of the drawing: an object that is repeated has several. */
  readonly key: string;
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
}

export interface PlacedEdge {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly edge: GraphEdge;
}

export interface Placement {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

interface Island {
  readonly keys: Map<string, GraphNode>;
  readonly edges: PlacedEdge[];
}

const rootOf = (parents: Map<string, string>, id: string): string => {
  let root = id;
  for (let next = parents.get(root); next !== undefined && next !== root; next = parents.get(root))
    root = next;
  parents.set(id, root);
  return root;
};

/** Objects that are connected without the repeated ones, each group with copies of those. */
const islandsOf = (nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Island[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const isRepeated = (id: string): boolean => REPEATED.has(byId.get(id)?.kind ?? '');
  const parents = new Map(nodes.map(({ id }) => [id, id]));
  for (const { from, to } of edges)
    if (!isRepeated(from) && !isRepeated(to)) parents.set(rootOf(parents, from), rootOf(parents, to));
  const islands = new Map<string, Island>();
  const islandOf = (id: string): { readonly name: string; readonly island: Island } => {
    const name = rootOf(parents, id);
    const known = islands.get(name) ?? { keys: new Map<string, GraphNode>(), edges: [] };
    islands.set(name, known);
    return { name, island: known };
  };
  const placed = new Set<string>();
  for (const node of nodes)
    if (!isRepeated(node.id)) {
      islandOf(node.id).island.keys.set(node.id, node);
      placed.add(node.id);
    }
  const copyInto = (name: string, island: Island, id: string): string => {
    const key = `${id} @${name}`;
    const node = byId.get(id);
    if (node) island.keys.set(key, node);
    placed.add(id);
    return key;
  };
  const shared = edges.filter(({ from, to }) => isRepeated(from) && isRepeated(to));
  const addShared = (name: string, island: Island, id: string, seen: Set<string>): void => {
    for (const edge of shared) {
      if (edge.from !== id || seen.has(edge.to)) continue;
      seen.add(edge.to);
      const to = copyInto(name, island, edge.to);
      const from = `${id} @${name}`;
      island.edges.push({ key: `${from} ${to} ${edge.relation}`, from, to, edge });
      addShared(name, island, edge.to, seen);
    }
  };
  for (const edge of edges) {
    const [repeatedFrom, repeatedTo] = [isRepeated(edge.from), isRepeated(edge.to)];
    if (repeatedFrom && repeatedTo) continue;
    const { name, island } = islandOf(repeatedFrom ? edge.to : edge.from);
    const [from, to] = [
      repeatedFrom ? copyInto(name, island, edge.from) : edge.from,
      repeatedTo ? copyInto(name, island, edge.to) : edge.to,
    ];
    const key = `${from} ${to} ${edge.relation}`;
    if (island.edges.some((one) => one.key === key)) continue;
    island.edges.push({ key, from, to, edge });
    if (repeatedTo) addShared(name, island, edge.to, new Set([edge.to]));
  }
  // Repeated objects that no application uses are islands of their own, together with what they lead to.
  for (const { id } of nodes) {
    if (placed.has(id)) continue;
    const island: Island = { keys: new Map(), edges: [] };
    islands.set(id, island);
    copyInto(id, island, id);
    addShared(id, island, id, new Set([id]));
  }
  return [...islands.values()];
};

interface Box {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

interface Shape {
  /** By the place of the node in its island. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly width: number;
  readonly height: number;
}

const shapeOf = (count: number, lines: readonly (readonly [number, number])[], isSmall: boolean): Shape => {
  if (count === 1) return { points: [{ x: 0, y: 0 }], width: NODE_WIDTH, height: NODE_HEIGHT };
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({
    rankdir: 'LR',
    nodesep: NODE_GAP,
    ranksep: RANK_GAP,
    ranker: isSmall ? 'network-simplex' : 'tight-tree',
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const places = Array.from({ length: count }, (_, place) => String(place));
  for (const place of places) graph.setNode(place, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const [from, to] of lines) graph.setEdge(String(from), String(to));
  dagre.layout(graph, { disableOptimalOrderHeuristic: !isSmall });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const points = places.map((place) => {
    const { x, y } = graph.node(place) as { x: number; y: number };
    return { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
  });
  return { points, width, height };
};

/** Applications that are built alike look alike: each shape is laid out once. */
const layOutAll = (islands: readonly Island[]): Box[] => {
  const isSmall = islands.reduce((sum, { keys }) => sum + keys.size, 0) <= EXACT_NODES_MAX;
  const shapes = new Map<string, Shape>();
  return islands.map(({ keys, edges }) => {
    const placeOf = new Map([...keys.keys()].map((key, place) => [key, place]));
    const lines = edges.map(({ from, to }) => [placeOf.get(from) ?? 0, placeOf.get(to) ?? 0] as const);
    const name = `${keys.size} ${lines.join(' ')}`;
    const shape = shapes.get(name) ?? shapeOf(keys.size, lines, isSmall);
    shapes.set(name, shape);
    const { points, width, height } = shape;
    const nodes = [...keys].map(([key, node], place) => ({
      key,
      node,
      ...(points[place] ?? { x: 0, y: 0 }),
    }));
    return { nodes, edges, width, height };
  });
};

/** Islands in columns that together have about the shape of a window; large ones first, loners last. */
const pack = (boxes: readonly Box[]): Placement => {
  const sorted = [...boxes].sort((a, b) => b.nodes.length - a.nodes.length || b.height - a.height);
  const area = sorted.reduce(
    (sum, { width, height }) => sum + (width + ISLAND_GAP) * (height + ISLAND_GAP),
    0,
  );
  const heightMax = Math.max(Math.sqrt(area / ASPECT), ...sorted.map(({ height }) => height));
  const nodes: PlacedNode[] = [];
  let [x, y, columnWidth] = [0, 0, 0];
  for (const box of sorted) {
    if (y > 0 && y + box.height > heightMax) [x, y, columnWidth] = [x + columnWidth + ISLAND_GAP, 0, 0];
    for (const placed of box.nodes) nodes.push({ ...placed, x: placed.x + x, y: placed.y + y });
    // Loners stand closer together than applications.
    y += box.height + (box.nodes.length === 1 ? NODE_GAP : ISLAND_GAP);
    columnWidth = Math.max(columnWidth, box.width);
  }
  return { nodes, edges: sorted.flatMap(({ edges }) => edges) };
};

/** Places every object; applications that share nothing but common objects stand apart. */
export const placeGraph = (nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Placement =>
  pack(layOutAll(islandsOf(nodes, edges)));

export type Direction = 'left' | 'right' | 'up' | 'down';
/** What lies aside counts more than what lies ahead. */
const ASIDE_WEIGHT = 3;

/** The node that an arrow key goes to: the nearest in that direction; along a line where there is one. */
export const neighbourOf = (
  { nodes, edges }: Placement,
  key: string,
  direction: Direction,
): PlacedNode | undefined => {
  const here = nodes.find((one) => one.key === key);
  if (!here) return undefined;
  const related = new Set(
    edges.flatMap(({ from, to }) => {
      if (direction === 'right' && from === key) return [to];
      return direction === 'left' && to === key ? [from] : [];
    }),
  );
  const candidates = related.size > 0 ? nodes.filter((one) => related.has(one.key)) : nodes;
  const ahead = ({ x, y }: PlacedNode): number => {
    if (direction === 'left') return here.x - x;
    if (direction === 'right') return x - here.x;
    return direction === 'up' ? here.y - y : y - here.y;
  };
  const aside = ({ x, y }: PlacedNode): number =>
    direction === 'left' || direction === 'right' ? Math.abs(y - here.y) : Math.abs(x - here.x);
  return candidates
    .filter((one) => one.key !== key && ahead(one) > 0)
    .sort((a, b) => ahead(a) + ASIDE_WEIGHT * aside(a) - (ahead(b) + ASIDE_WEIGHT * aside(b)))[0];
};

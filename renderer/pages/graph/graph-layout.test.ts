import { expect, test } from 'vitest';
import type { GraphEdge, GraphNode } from '../../../core/contract/index.ts';
import { neighbourOf, NODE_HEIGHT, NODE_WIDTH, placeGraph } from './graph-layout.ts';

const node = (kind: string, name: string): GraphNode => ({
  id: `${kind}/${name}`,
  group: '',
  kind,
  namespace: 'shop',
  name,
  state: 'ok',
  figures: '',
  reasons: [],
  members: [],
});
const edge = (from: string, to: string): GraphEdge => ({ from, to, relation: 'owns', reasons: [] });
const chain = (app: string): { nodes: GraphNode[]; edges: GraphEdge[] } => ({
  nodes: [node('Deployment', app), node('ReplicaSet', app), node('Pod', `${app}-1`), node('Pod', `${app}-2`)],
  edges: [
    edge(`Deployment/${app}`, `ReplicaSet/${app}`),
    edge(`ReplicaSet/${app}`, `Pod/${app}-1`),
    edge(`ReplicaSet/${app}`, `Pod/${app}-2`),
    edge(`Pod/${app}-1`, 'ServiceAccount/robot'),
    edge(`Pod/${app}-2`, 'ServiceAccount/robot'),
  ],
});
const apps = (...names: string[]) => {
  const chains = names.map(chain);
  return placeGraph(
    [
      ...chains.flatMap(({ nodes }) => nodes),
      node('ServiceAccount', 'robot'),
      node('RoleBinding', 'read'),
      node('Role', 'reader'),
      node('ConfigMap', 'loner'),
      node('Role', 'unused'),
    ],
    [
      ...chains.flatMap(({ edges }) => edges),
      edge('ServiceAccount/robot', 'RoleBinding/read'),
      edge('RoleBinding/read', 'Role/reader'),
    ],
  );
};

test('no two nodes overlap, and every edge leads from left to right', () => {
  const { nodes, edges } = apps('web', 'api', 'db');
  const overlaps = nodes.filter((a) =>
    nodes.some(
      (b) => a.key !== b.key && Math.abs(a.x - b.x) < NODE_WIDTH && Math.abs(a.y - b.y) < NODE_HEIGHT,
    ),
  );
  const xOf = new Map(nodes.map(({ key, x }) => [key, x]));
  const backwards = edges.filter(({ from, to }) => xOf.get(from)! >= xOf.get(to)!);
  expect([overlaps, backwards]).toEqual([[], []]);
});

test('shared objects are drawn beside each application that uses them, with what they lead to', () => {
  const { nodes } = apps('web', 'api');
  const count = (id: string): number => nodes.filter(({ node: { id: own } }) => own === id).length;
  expect(
    ['ServiceAccount/robot', 'RoleBinding/read', 'Role/reader', 'Role/unused', 'ConfigMap/loner'].map(count),
  ).toEqual([2, 2, 2, 1, 1]);
});

test('arrow keys follow lines, and go to what is nearest', () => {
  const placement = apps('web');
  const go = (key: string, direction: 'left' | 'right' | 'up' | 'down') =>
    neighbourOf(placement, key, direction)?.node.id;
  const upper = placement.nodes.filter(({ node: { kind } }) => kind === 'Pod').sort((a, b) => a.y - b.y)[0]!;
  expect([
    go('Deployment/web', 'right'),
    go('ReplicaSet/web', 'left'),
    go(upper.key, 'down')?.startsWith('Pod/'),
    go('Deployment/web', 'left'),
  ]).toEqual(['ReplicaSet/web', 'Deployment/web', true, undefined]);
});

test('edges that form a circle end', () => {
  const circle = placeGraph([node('A', 'a'), node('A', 'b')], [edge('A/a', 'A/b'), edge('A/b', 'A/a')]);
  expect(circle.nodes).toHaveLength(2);
});

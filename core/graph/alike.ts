import { groupBy } from '../base/group-by.ts';
import type { GraphEdge, GraphNode } from '../contract/index.ts';
import type { Picture } from './application.ts';

/** Fewer are shown one by one. Names of pods are generated, so two are enough. */
const ALIKE_MIN = 4;
const PODS_ALIKE_MIN = 2;

/**
 * Joins objects of one kind that have the same state, the same reasons and the same relations: twenty pods of a
 * ReplicaSet are one node with twenty members. The node keeps the id of its first member.
 */
export const joinAlike = ({ nodes, edges }: Picture, keep: string | undefined): Picture => {
  const sides = new Map<string, string[]>();
  const note = (id: string, text: string): void => {
    const known = sides.get(id);
    if (known) known.push(text);
    else sides.set(id, [text]);
  };
  const codes = (reasons: GraphEdge['reasons']): string => reasons.map(({ what }) => what.code).join();
  for (const { from, to, relation, reasons } of edges) {
    note(from, `>${to} ${relation} ${codes(reasons)}`);
    note(to, `<${from} ${relation} ${codes(reasons)}`);
  }
  const alike = groupBy(nodes, ({ id, kind, namespace, state, figures, reasons }) => {
    const related = sides.get(id);
    // What stands alone is not joined with other loners: they have nothing to do with each other.
    if (id === keep || state === 'missing' || !related) return id;
    return [kind, namespace, state, figures, codes(reasons), ...related.sort()].join('\n');
  });
  const replaced = new Map<string, string>();
  const joined: GraphNode[] = [];
  for (const members of alike.values()) {
    const [first] = members;
    if (!first) continue;
    if (members.length < (first.kind === 'Pod' ? PODS_ALIKE_MIN : ALIKE_MIN)) {
      joined.push(...members);
      continue;
    }
    joined.push({ ...first, members: members.map(({ name }) => name).sort() });
    for (const { id } of members.slice(1)) replaced.set(id, first.id);
  }
  return {
    nodes: joined,
    edges: edges.filter(({ from, to }) => !replaced.has(from) && !replaced.has(to)),
  };
};

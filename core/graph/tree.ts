import { groupBy } from '../base/group-by.ts';
import {
  inEnglish,
  type GraphEdge,
  type GraphNode,
  type GraphReason,
  type GraphView,
} from '../contract/index.ts';

const nodeText = ({ kind, name, members, state, figures }: GraphNode): string =>
  [
    `${kind}/${name}`,
    ...(members.length > 0 ? [`(+${members.length - 1} alike)`] : []),
    ...(figures === '' ? [] : [figures]),
    ...(state === 'ok' ? [] : [`[${state}]`]),
  ].join(' ');

const reasonLines = (indent: string, reasons: readonly GraphReason[]): string[] =>
  reasons.flatMap(({ severity, what, fix, command }) => [
    `${indent}${severity === 'error' ? '✗' : '!'} ${inEnglish(what)}`,
    `${indent}  fix: ${inEnglish(fix)}`,
    ...(command === null ? [] : [`${indent}  $ ${command}`]),
  ]);

/** The graph as a text tree. What was printed in full is named again, without its branches. */
export const graphTree = ({ nodes, edges }: Pick<GraphView, 'nodes' | 'edges'>): string[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const outgoing = groupBy(edges, ({ from }) => from);
  const isEntered = new Set(edges.map(({ to }) => to));
  const printed = new Set<string>();
  const lines: string[] = [];
  const print = (node: GraphNode, head: string, indent: string, edge: GraphEdge | undefined): void => {
    lines.push(
      `${head}${edge ? `${edge.relation} ` : ''}${nodeText(node)}${printed.has(node.id) ? ' ...' : ''}`,
    );
    const children = printed.has(node.id) ? [] : (outgoing.get(node.id) ?? []);
    const gutter = `${indent}${children.length > 0 ? '│ ' : '  '}`;
    if (edge) lines.push(...reasonLines(gutter, edge.reasons));
    if (printed.has(node.id)) return;
    printed.add(node.id);
    lines.push(...reasonLines(gutter, node.reasons));
    for (const [index, child] of children.entries()) {
      const to = byId.get(child.to);
      if (!to) continue;
      const isLast = index === children.length - 1;
      print(to, `${indent}${isLast ? '└─ ' : '├─ '}`, `${indent}${isLast ? '   ' : '│  '}`, child);
    }
  };
  for (const node of nodes) if (!isEntered.has(node.id)) print(node, '', '', undefined);
  // Relations may form a circle that nothing leads into.
  for (const node of nodes) if (!printed.has(node.id)) print(node, '', '', undefined);
  return lines;
};

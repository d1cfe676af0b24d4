import { stringify } from 'yaml';
import type { SchedulingView } from '../../../core/contract/index.ts';
import { at, fieldsOf, listAt, textAt, type KubeObject } from '../../kinds/kube-object.ts';

type Row = SchedulingView['rows'][number];

/** A cell of the matrix: what a plugin gave, and how much of the best that is. */
export interface ScoreCell {
  readonly score: number;
  /** 0 to 1. */
  readonly share: number;
}

export interface MatrixRow extends Pick<Row, 'node' | 'refusedBy' | 'reason' | 'total'> {
  readonly isWinner: boolean;
  readonly cells: readonly ScoreCell[];
}

/** The winner on top, then by points, then those that were refused, by reason. */
export const matrixRows = (view: SchedulingView): MatrixRow[] => {
  const best = view.scores.map((_, column) =>
    Math.max(0, ...view.rows.map(({ scores }) => scores[column] ?? 0)),
  );
  return view.rows
    .map((row) => ({
      node: row.node,
      refusedBy: row.refusedBy,
      reason: row.reason,
      total: row.total,
      isWinner: row.node === view.node,
      cells: row.scores.map((score, column) => ({
        score,
        share: (best[column] ?? 0) > 0 ? score / best[column]! : 0,
      })),
    }))
    .sort(
      (a, b) =>
        Number(b.isWinner) - Number(a.isWinner) ||
        Number(a.refusedBy !== '') - Number(b.refusedBy !== '') ||
        b.total - a.total ||
        a.reason.localeCompare(b.reason) ||
        a.node.localeCompare(b.node, 'en', { numeric: true }),
    );
};

/** How many nodes each reason kept out, most first. */
export const refusalCounts = (
  view: SchedulingView,
): { readonly plugin: string; readonly reason: string; readonly count: number }[] => {
  const counts = new Map<string, { plugin: string; reason: string; count: number }>();
  for (const { refusedBy, reason } of view.rows) {
    if (refusedBy === '') continue;
    const key = `${refusedBy}\n${reason}`;
    const known = counts.get(key) ?? { plugin: refusedBy, reason, count: 0 };
    counts.set(key, { ...known, count: known.count + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
};

/** Given to every pod by admission; they would only make the text longer. */
const isDefaultToleration = (toleration: KubeObject): boolean =>
  textAt(toleration, 'key').startsWith('node.kubernetes.io/') && textAt(toleration, 'effect') === 'NoExecute';

/** A pod as its author might have written it: without its node, its status and what the server added. */
export const podAsQuestion = (pod: KubeObject): string => {
  const { nodeName: _node, tolerations: _tolerations, ...spec } = fieldsOf(pod['spec']);
  const tolerations = listAt(pod, 'spec', 'tolerations').filter((each) => !isDefaultToleration(each));
  const labels = fieldsOf(at(pod, 'metadata', 'labels'));
  return stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${textAt(pod, 'metadata', 'name')}-what-if`,
      namespace: textAt(pod, 'metadata', 'namespace'),
      ...(Object.keys(labels).length > 0 && { labels }),
    },
    spec: { ...spec, ...(tolerations.length > 0 && { tolerations }) },
  });
};

export const SAMPLE_POD = `apiVersion: v1
kind: Pod
metadata:
  name: what-if
  namespace: default
spec:
  containers:
    - name: app
      image: registry.k8s.io/pause:3.10
      resources:
        requests:
          cpu: 500m
          memory: 256Mi
`;

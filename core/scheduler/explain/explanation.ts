import type { Decision } from '../algorithm/algorithm.ts';
import type { Snapshot } from '../cache/snapshot.ts';
import type { Diagnosis } from '../framework/fit-error.ts';
import type { Status } from '../framework/status.ts';
import type { ScoreTable } from '../framework/score-table.ts';
import type { PodInfo } from '../model/pod-info.ts';

/** One answer that some nodes gave. */
export interface Rejection {
  readonly plugin: string;
  readonly code: string;
  readonly reasons: readonly string[];
  readonly nodeCount: number;
  /** Bounded; `nodeCount` is the whole. */
  readonly nodes: readonly string[];
}

export interface NodeScore {
  readonly node: string;
  readonly total: number;
  readonly plugins: readonly {
    readonly name: string;
    readonly raw: number;
    readonly normalised: number;
    readonly weight: number;
    readonly weighted: number;
  }[];
}

export interface Preemption {
  readonly nominatedNodeName: string;
  /** Known to a what-if; an attempt evicts them and says so by events. */
  readonly victims?: readonly string[];
  readonly message: string;
}

/** Why one attempt ended as it did, in the words that its events use. */
export interface Explanation {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly profile: string;
  readonly attempt: number;
  readonly startedAtMs: number;
  /** How long each stage took. Binding is missing while it is in progress. */
  readonly durationsMs: Readonly<Record<string, number>>;
  readonly result: 'scheduled' | 'unschedulable' | 'error';
  readonly nodeName?: string;
  readonly message?: string;
  readonly nodeCount: number;
  readonly feasibleNodeCount: number;
  readonly rejections: readonly Rejection[];
  /** The best nodes, best first. */
  readonly scores: readonly NodeScore[];
  readonly preemption?: Preemption;
}

export const NODES_PER_REJECTION_MAX = 5000;
export const SCORED_NODES_MAX = 20;

export const rejectionsOf = (
  snapshot: Snapshot,
  { statuses, absent, nodeCount }: Diagnosis,
): readonly Rejection[] => {
  const nodesOf = new Map<Status, string[]>();
  statuses.forEach((slot, status) => {
    let nodes = nodesOf.get(status);
    if (!nodes) nodesOf.set(status, (nodes = []));
    nodes.push(snapshot.entry(slot).name);
  });
  const rejections = [...nodesOf].map(([status, nodes]) => rejection(status, nodes, nodes.length));
  const absentCount = nodeCount - statuses.size;
  return absent && absentCount > 0 ? [...rejections, rejection(absent, [], absentCount)] : rejections;
};

const rejection = (status: Status, nodes: readonly string[], nodeCount: number): Rejection => ({
  plugin: status.plugin,
  code: status.code,
  reasons: status.reasons,
  nodeCount,
  nodes: nodes.slice(0, NODES_PER_REJECTION_MAX),
});

/** Indexes of the greatest totals, greatest first; the bound is small, so insertion is enough. */
const bestOf = (total: Float64Array): readonly number[] => {
  const best: number[] = [];
  for (let at = 0; at < total.length; at += 1) {
    if (best.length === SCORED_NODES_MAX && total[at]! <= total[best.at(-1)!]!) continue;
    let place = best.length;
    while (place > 0 && total[best[place - 1]!]! < total[at]!) place -= 1;
    best.splice(place, 0, at);
    if (best.length > SCORED_NODES_MAX) best.pop();
  }
  return best;
};

export const scoresOf = (snapshot: Snapshot, table: ScoreTable | undefined): readonly NodeScore[] =>
  !table
    ? []
    : bestOf(table.total).map((at) => ({
        node: snapshot.entry(table.slots[at]!).name,
        total: table.total[at]!,
        plugins: table.plugins.map(({ name, weight, raw, normalised }) => ({
          name,
          weight,
          raw: raw[at]!,
          normalised: normalised[at]!,
          weighted: normalised[at]! * weight,
        })),
      }));

export interface AttemptFacts {
  readonly pod: PodInfo;
  readonly profile: string;
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly durationsMs: Readonly<Record<string, number>>;
  readonly message?: string;
  readonly preemption?: Preemption;
}

export const explain = (snapshot: Snapshot, decision: Decision, facts: AttemptFacts): Explanation => {
  const { pod, ...rest } = facts;
  const { metadata } = pod.pod;
  const head = {
    ...rest,
    pod: { namespace: pod.namespace, name: metadata.name ?? '', uid: pod.uid },
    nodeCount: snapshot.nodeCount,
  };
  switch (decision.kind) {
    case 'placed':
      return {
        ...head,
        result: 'scheduled',
        nodeName: decision.nodeName,
        feasibleNodeCount: decision.feasible.length,
        rejections: rejectionsOf(snapshot, decision.diagnosis),
        scores: scoresOf(snapshot, decision.scores),
      };
    case 'unschedulable':
      return {
        ...head,
        result: 'unschedulable',
        feasibleNodeCount: 0,
        rejections: rejectionsOf(snapshot, decision.diagnosis),
        scores: [],
      };
    case 'error':
      return {
        ...head,
        result: 'error',
        message: facts.message ?? decision.status.reasons.join(', '),
        feasibleNodeCount: 0,
        rejections: [],
        scores: [],
      };
  }
};

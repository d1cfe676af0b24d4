import { toneRank, type StatusTone } from '../../../kinds/status-tone.ts';
import type { Capacity } from '../data/capacity.ts';
import type { NodeFact, PodCounts } from '../data/workload.ts';

export interface NodeView {
  readonly node: NodeFact;
  readonly tone: StatusTone;
  readonly pods: PodCounts;
  readonly capacity: Capacity | undefined;
  readonly heartbeatAtMs: number | undefined;
  readonly isLate: boolean;
}

/** A kubelet renews every 10 s; this late, something is the matter. */
export const HEARTBEAT_LATE_MS = 25_000;
/** More cards than this are no map: the rest is counted, and listed on the page of nodes. */
export const NODES_SHOWN_MAX = 24;

const NO_PODS: PodCounts = { total: 0, running: 0, failing: 0, pending: 0, system: 0 };

export interface NodeSources {
  readonly nodes: readonly NodeFact[];
  readonly pods: ReadonlyMap<string, PodCounts>;
  readonly capacity: ReadonlyMap<string, Capacity>;
  readonly heartbeats: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

/** Cards of the nodes that carry work: in the order of their names, or the worst first when not all fit. */
export const nodeViews = (
  sources: NodeSources,
): { readonly shown: readonly NodeView[]; readonly hiddenCount: number; readonly podCount: number } => {
  const { nodes, pods, capacity, heartbeats, nowMs } = sources;
  const all = nodes
    .filter(({ isControlPlane }) => !isControlPlane)
    .map((node): NodeView => {
      const heartbeatAtMs = heartbeats.get(node.name);
      const isLate = heartbeatAtMs !== undefined && nowMs - heartbeatAtMs > HEARTBEAT_LATE_MS;
      const counts = pods.get(node.name) ?? NO_PODS;
      return {
        node,
        tone: !node.isReady ? 'error' : isLate || node.isCordoned ? 'warn' : 'ok',
        pods: counts,
        capacity: capacity.get(node.name),
        heartbeatAtMs,
        isLate,
      };
    });
  const ordered =
    all.length > NODES_SHOWN_MAX
      ? all.toSorted((a, b) => toneRank[a.tone] - toneRank[b.tone] || b.pods.failing - a.pods.failing)
      : all;
  return {
    shown: ordered.slice(0, NODES_SHOWN_MAX),
    hiddenCount: Math.max(0, all.length - NODES_SHOWN_MAX),
    podCount: all.reduce((sum, { pods: { total } }) => sum + total, 0),
  };
};

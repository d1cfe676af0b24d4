import type { NodeStatuses } from './node-statuses.ts';
import type { Status } from './status.ts';

/** Why a pod found no node: what each node answered, and what the whole cycle learned. */
export interface Diagnosis {
  readonly nodeCount: number;
  readonly statuses: NodeStatuses;
  /** What holds for the nodes that are not in `statuses`. */
  readonly absent: Status | undefined;
  /** Plugins whose rejection a cluster event must undo. */
  readonly unschedulablePlugins: ReadonlySet<string>;
  /** Plugins that wait for something else than a cluster event. */
  readonly pendingPlugins: ReadonlySet<string>;
  readonly preFilterMessage: string;
}

type Fit = Pick<Diagnosis, 'statuses' | 'nodeCount' | 'absent' | 'preFilterMessage'>;

const reasonsHistogram = ({ statuses, nodeCount, absent }: Fit): string => {
  const counts = new Map<string, number>();
  const count = (reason: string, by: number): void => void counts.set(reason, (counts.get(reason) ?? 0) + by);
  for (const [status, times] of statuses.histogram())
    for (const reason of status.reasons) count(reason, times);
  const absentCount = nodeCount - statuses.size;
  if (absentCount > 0) for (const reason of absent?.reasons ?? []) count(reason, absentCount);
  return [...counts]
    .map(([reason, times]) => `${times} ${reason}`)
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    .join(', ');
};

/** Upstream's sentence, letter by letter: people and tools read it in events and conditions. */
export const fitErrorMessage = (fit: Fit, postFilterMessage = ''): string => {
  const reasons = fit.preFilterMessage || reasonsHistogram(fit);
  return (
    `0/${fit.nodeCount} nodes are available:` +
    (reasons === '' ? '' : ` ${reasons}.`) +
    (postFilterMessage === '' ? '' : ` ${postFilterMessage}`)
  );
};

/** Upstream's answer where there is nothing to choose from. */
export const NO_NODES_MESSAGE = 'no nodes available to schedule pods';

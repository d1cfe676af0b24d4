import type { TimelineEntry, TimelineKind } from '../contract/index.ts';
import { endOf } from './story.ts';

/** What clients and workloads notice, in the order in which it weighs. */
const IMPAIRMENTS = [
  'noLeader',
  'apiErrors',
  'etcdAlarm',
  'nodeNotReady',
  'nodeCondition',
  'rollout',
  'alert',
] as const satisfies readonly TimelineKind[];
export type Impairment = (typeof IMPAIRMENTS)[number];

/** What a recorder could not see or could not place in time. */
const BLIND: readonly TimelineKind[] = ['recordingBegan', 'clockJumped', 'eventsSkipped'];

export interface Impact {
  readonly kind: Impairment;
  readonly count: number;
  /** While at least one of them lasted, within the range. */
  readonly totalMs: number;
  readonly longestMs: number;
  /** One of them was not over at the end of the range. */
  readonly isOpen: boolean;
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Ones that overlap count once: two nodes that are down for a minute are a minute. */
const unionMs = (spans: readonly (readonly [from: number, to: number])[]): number => {
  let total = 0;
  let coveredTo = -Infinity;
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    total += Math.max(0, to - Math.max(from, coveredTo));
    coveredTo = Math.max(coveredTo, to);
  }
  return total;
};

/** How long what was impaired, of entries that touch the range. */
export const impactOf = (entries: readonly TimelineEntry[], { fromMs, toMs }: Range): readonly Impact[] =>
  IMPAIRMENTS.flatMap((kind): Impact[] => {
    const found = entries.filter(
      (entry) =>
        entry.kind === kind &&
        entry.severity !== 'ok' &&
        entry.severity !== 'info' &&
        entry.atMs <= toMs &&
        endOf(entry, toMs) >= fromMs,
    );
    if (found.length === 0) return [];
    const spans = found.map(
      (entry) => [Math.max(fromMs, entry.atMs), Math.min(toMs, endOf(entry, toMs))] as const,
    );
    return [
      {
        kind,
        count: found.length,
        totalMs: unionMs(spans),
        longestMs: Math.max(...spans.map(([from, to]) => to - from)),
        isOpen: found.some((entry) => entry.isOpen || (entry.endMs ?? 0) > toMs),
      },
    ];
  });

/** Entries that say what the others do not: gaps of the recording, clocks that jumped, events that were skipped. */
export const blindSpots = (entries: readonly TimelineEntry[]): readonly TimelineEntry[] =>
  entries.filter(({ kind }) => BLIND.includes(kind));

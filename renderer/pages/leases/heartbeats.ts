import type { LeaseView } from '../../../core/contract/index.ts';
import { ageMsOf } from './lease-state.ts';

/** 1 to 4: on time to slow. `missed`: a renewal failed. `expired`: no one would have known that the node lives. */
export type HeartbeatLevel = 1 | 2 | 3 | 4 | 'missed' | 'expired';

/** As often as a kubelet renews: a quarter of the duration. */
const RENEWALS_PER_DURATION = 4;
/** Upper ends of the levels 1 to 4, as multiples of the expected gap. */
export const LEVEL_ENDS = [1.1, 1.2, 1.5, 2] as const;

export const expectedGapSeconds = ({ durationSeconds }: Pick<LeaseView, 'durationSeconds'>): number =>
  Math.max(0.001, durationSeconds / RENEWALS_PER_DURATION);

export const levelOf = (gapSeconds: number, durationSeconds: number): HeartbeatLevel => {
  if (gapSeconds > durationSeconds) return 'expired';
  const share = gapSeconds / expectedGapSeconds({ durationSeconds });
  const place = LEVEL_ENDS.findIndex((end) => share <= end);
  return place < 0 ? 'missed' : ((place + 1) as HeartbeatLevel);
};

export interface HeartbeatRow {
  readonly name: string;
  readonly ageMs: number | undefined;
  readonly durationSeconds: number;
  /** Newest last; the last one is open: the time since the newest renewal, once it is longer than usual. */
  readonly cells: readonly HeartbeatLevel[];
  readonly longestSeconds: number;
  readonly missed: number;
  /** Late now: a renewal is overdue. */
  readonly isLate: boolean;
}

export const CELLS_MAX = 60;

export const heartbeatRow = (lease: LeaseView, serverNowMs: number): HeartbeatRow => {
  const { name, durationSeconds } = lease;
  const ageMs = ageMsOf(lease, serverNowMs);
  const openSeconds = ageMs === undefined ? Infinity : ageMs / 1000;
  const open = levelOf(openSeconds, durationSeconds);
  const gaps = lease.renewGapsSeconds;
  const levels = gaps.map((gap) => levelOf(gap, durationSeconds));
  // The running gap is shown as soon as it says something: on time it would only flicker.
  const cells = [...levels, ...(open === 1 ? [] : [open])].slice(-CELLS_MAX);
  return {
    name,
    ageMs,
    durationSeconds,
    cells,
    longestSeconds: Math.max(0, ...gaps, ageMs === undefined ? 0 : openSeconds),
    missed: cells.filter((cell) => cell === 'missed' || cell === 'expired').length,
    isLate: open === 'missed' || open === 'expired',
  };
};

/** Made once: a comparison that makes its own costs more than all the rest for a thousand nodes. */
const names = new Intl.Collator('en', { numeric: true });
const byName = (a: HeartbeatRow, b: HeartbeatRow): number => names.compare(a.name, b.name);

/** By name, or those first that are late now, then those that were. */
export const sortRows = (rows: readonly HeartbeatRow[], order: 'name' | 'worst'): readonly HeartbeatRow[] =>
  order === 'name'
    ? rows.toSorted(byName)
    : rows.toSorted(
        (a, b) =>
          Number(b.isLate) - Number(a.isLate) ||
          (a.isLate ? (b.ageMs ?? Infinity) - (a.ageMs ?? Infinity) || 0 : 0) ||
          b.missed - a.missed ||
          byName(a, b),
      );

/** The rows that a scrolled view shows, with some around them. */
export const visibleRange = (
  { scrollTop, viewHeight, rowHeight }: { scrollTop: number; viewHeight: number; rowHeight: number },
  count: number,
): { readonly first: number; readonly last: number } => {
  const first = Math.min(Math.max(0, Math.floor(scrollTop / rowHeight)), Math.max(0, count - 1));
  const last = Math.min(count, Math.ceil((scrollTop + viewHeight) / rowHeight) + 1);
  return { first, last: Math.max(first, last) };
};

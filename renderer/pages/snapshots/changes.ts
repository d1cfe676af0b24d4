import type { SnapshotComparison } from '../../../core/contract/index.ts';

export type ChangeRow = SnapshotComparison['rows'][number];

/** As many names as the host tells of each resource; when there are as many, there may be more. */
export const NAMES_MAX = 10;

export interface Changes {
  readonly goes: number;
  readonly comesBack: number;
  readonly stays: number;
  /** Some resource has more names than were told: the figures are at least this. */
  readonly isAtLeast: boolean;
}

const isCut = ({ goes, comesBack }: ChangeRow): boolean =>
  goes.length >= NAMES_MAX || comesBack.length >= NAMES_MAX;

/** What goes is known from what comes back and both totals, unless both lists are cut. */
export const goesCount = ({ now, inSnapshot, goes, comesBack }: ChangeRow): number =>
  goes.length < NAMES_MAX ? goes.length : Math.max(goes.length, now - inSnapshot + comesBack.length);

export const comesBackCount = ({ now, inSnapshot, goes, comesBack }: ChangeRow): number =>
  comesBack.length < NAMES_MAX
    ? comesBack.length
    : Math.max(comesBack.length, inSnapshot - now + goes.length);

/** Whether a figure of this row may be too small. */
export const isAtLeast = (row: ChangeRow): boolean =>
  row.goes.length >= NAMES_MAX && row.comesBack.length >= NAMES_MAX;

export const changesOf = (rows: readonly ChangeRow[]): Changes => {
  const sum = (count: (row: ChangeRow) => number): number => rows.reduce((all, row) => all + count(row), 0);
  return {
    goes: sum(goesCount),
    comesBack: sum(comesBackCount),
    stays: sum((row) => row.now - goesCount(row)),
    isAtLeast: rows.some((row) => isCut(row) && isAtLeast(row)),
  };
};

/** Those that change, most first; then the rest by name. */
export const changedFirst = (rows: readonly ChangeRow[]): readonly ChangeRow[] => {
  const weight = (row: ChangeRow): number => goesCount(row) + comesBackCount(row);
  return [...rows].sort((a, b) => weight(b) - weight(a) || a.resource.localeCompare(b.resource));
};

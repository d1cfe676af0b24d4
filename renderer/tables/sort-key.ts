import type { TableColumn, TableRow } from '../../core/contract/index.ts';
import { amountOf } from './amount.ts';
import { durationSeconds, isDuration } from './duration.ts';
import type { ShownColumn } from './table-layout.ts';
import { isStatusColumn, statusTone, toneRank } from '../kinds/status-tone.ts';

export type SortKey = number | string;

const DIGITS_MAX = 10;

/** `web-10` after `web-9`, in any case: compared as plain text afterwards, which is fast. */
export const naturalKey = (text: string): string =>
  text.toLowerCase().replaceAll(/\d+/g, (digits) => digits.padStart(DIGITS_MAX, '0'));

export const isAgeColumn = (column: TableColumn): boolean => column.name === 'Age';

/** What a row is sorted by in one column. Numbers before words where a column mixes them. */
export const sortKeyOf = (row: TableRow, column: TableColumn | 'namespace', index: number): SortKey => {
  if (column === 'namespace') return naturalKey(row.namespace);
  // The youngest first, as a person asks for "newest".
  if (isAgeColumn(column)) return row.createdAtMs === null ? Infinity : -row.createdAtMs;
  const cell = row.cells[index] ?? '';
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'boolean') return cell ? 1 : 0;
  if (isStatusColumn(column.name)) {
    const tone = statusTone(cell);
    return `${tone ? toneRank[tone] : toneRank.pending}${naturalKey(cell)}`;
  }
  if (isDuration(cell)) return durationSeconds(cell);
  // `4 (3m ago)` and `0/1` begin with the number that matters.
  if (column.type === 'integer' || column.type === 'number') return Number.parseFloat(cell) || 0;
  return naturalKey(cell);
};

/** What a row is sorted by under a column as it is drawn; measured amounts are sorted as numbers. */
export const keyIn = (
  { column, index, read }: Pick<ShownColumn, 'column' | 'index' | 'read'>,
  row: TableRow,
): SortKey => (read ? (amountOf(String(read(row) ?? '')) ?? -1) : sortKeyOf(row, column, index));

export const compareKeys = (a: SortKey, b: SortKey): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number') return -1;
  if (typeof b === 'number') return 1;
  return a < b ? -1 : a > b ? 1 : 0;
};

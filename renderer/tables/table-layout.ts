import type { TableCell, TableColumn, TableRow } from '../../core/contract/index.ts';
import { isStatusColumn } from '../kinds/status-tone.ts';
import { isAgeColumn } from './sort-key.ts';

/** Rows that are looked at for the width of a column. */
const SAMPLE_ROWS_MAX = 200;
const CHARACTER_PX = 6.6;
/** Heads begin with a capital and are short, so that one wide letter counts. */
const HEAD_CHARACTER_PX = 8;
const PADDING_PX = 16;
const STATUS_ICON_PX = 22;
/** Room for its head when it is sorted, which is then a sentence. */
const STATUS_WIDTH_MIN_PX = 164;
const WIDTH_MIN_PX = 56;
const WIDTH_MAX_PX = 260;
export const NAME_WIDTH_MIN_PX = 170;
const NAME_WIDTH_MAX_PX = 420;
export const SELECT_WIDTH_PX = 40;
export const NAMESPACE_ID = 'namespace';

/** A column as it is drawn; `index` is its place among the cells, undefined for the namespace. */
export interface ShownColumn {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly column: TableColumn | 'namespace';
  readonly index: number;
  readonly isNumber: boolean;
  readonly isName: boolean;
  readonly isStatus: boolean;
  readonly isAge: boolean;
  /** Of second rank to the server: shown where it costs no other column its room. */
  readonly isExtra: boolean;
  /** What is no cell of the row: an amount that is measured elsewhere. */
  readonly read?: ((row: TableRow) => TableCell) | undefined;
  readonly widthPx: number;
}

/** A column beside the server's own. */
export interface AddedColumn {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  read(row: TableRow): TableCell;
}

/** The cell of a row under a column, no matter who fills it. */
export const cellOf = (
  { column, index, read }: Pick<ShownColumn, 'column' | 'index' | 'read'>,
  row: TableRow,
): TableCell => (read ? read(row) : column === 'namespace' ? row.namespace : (row.cells[index] ?? null));

const widthOf = (
  shown: Omit<ShownColumn, 'widthPx'>,
  rows: readonly TableRow[],
  textScale: number,
): number => {
  if (shown.isAge) return Math.ceil(72 * textScale);
  let characters = 0;
  for (let at = 0; at < Math.min(rows.length, SAMPLE_ROWS_MAX); at += 1)
    characters = Math.max(characters, String(cellOf(shown, rows[at]!) ?? '').length);
  const textPx = Math.max(characters * CHARACTER_PX, shown.label.length * HEAD_CHARACTER_PX);
  const px = Math.ceil(textPx * textScale) + PADDING_PX + (shown.isStatus ? STATUS_ICON_PX : 0);
  const [minPx, maxPx] = shown.isName
    ? [NAME_WIDTH_MIN_PX, NAME_WIDTH_MAX_PX]
    : [shown.isStatus ? STATUS_WIDTH_MIN_PX : WIDTH_MIN_PX, WIDTH_MAX_PX];
  return Math.min(maxPx, Math.max(minPx, px));
};

/** Server words for nothing, in angle brackets as kubectl prints them. */
const NOTHING = /^<(none|unset|unknown|nil|not available|not set)>$/;
/** The word for nothing, without the brackets of a terminal; undefined for a value. */
export const nothingWord = (text: string): string | undefined => NOTHING.exec(text)?.[1];

const tellsNothing = (index: number, rows: readonly TableRow[]): boolean =>
  rows.slice(0, SAMPLE_ROWS_MAX).every((row) => {
    const text = String(row.cells[index] ?? '');
    return text === '' || nothingWord(text) !== undefined;
  });

export interface LayoutOptions {
  readonly hasNamespace: boolean;
  readonly namespaceLabel: string;
  /** Every column, also those of second rank and those that tell nothing now. */
  readonly isWide: boolean;
  readonly added?: readonly AddedColumn[];
  /** How much larger text is than usual. */
  readonly textScale?: number;
}

/**
 * The server's columns with the namespace behind the name and the age at the end, where the eye finds it in every
 * list. Columns of second rank are extra until they are asked for, and left out while they tell nothing.
 */
export const shownColumns = (
  columns: readonly TableColumn[],
  rows: readonly TableRow[],
  options: LayoutOptions,
): ShownColumn[] => {
  if (columns.length === 0) return [];
  const shown = columns
    .map((column, index) => ({ column, index }))
    .filter(({ column, index }) => options.isWide || column.priority === 0 || !tellsNothing(index, rows))
    .map(({ column, index }) => ({
      id: column.name,
      label: column.name,
      description: column.description,
      column,
      index,
      isNumber: column.type === 'integer' || column.type === 'number',
      // Events begin with their age; the message is what they are about.
      isName: column.name === 'Message' || (index === 0 && column.name !== 'Last Seen'),
      isStatus: index > 0 && isStatusColumn(column.name),
      isAge: isAgeColumn(column),
      isExtra: !options.isWide && column.priority > 0,
    }))
    .sort((a, b) => Number(a.isAge) - Number(b.isAge));
  const added = (options.added ?? []).map(({ id, name, description, read }) => ({
    id,
    label: name,
    description,
    column: { name, type: 'string', format: '', description, priority: 0 },
    index: -1,
    isNumber: true,
    isName: false,
    isStatus: false,
    isAge: false,
    isExtra: false,
    read,
  }));
  const at = shown.findIndex((each) => each.isAge);
  shown.splice(at < 0 ? shown.length : at, 0, ...added);
  const namespace = {
    id: NAMESPACE_ID,
    label: options.namespaceLabel,
    description: '',
    column: 'namespace' as const,
    index: -1,
    isNumber: false,
    isName: false,
    isStatus: false,
    isAge: false,
    isExtra: false,
  };
  const ordered = options.hasNamespace ? [...shown.slice(0, 1), namespace, ...shown.slice(1)] : shown;
  return ordered.map((each) => ({ ...each, widthPx: widthOf(each, rows, options.textScale ?? 1) }));
};

/**
 * Columns give way from the right while there is no room: extra ones as soon as the name is cut, the others when it
 * is at its narrowest; name, status and age stay to the end.
 */
export const fitColumns = (columns: readonly ShownColumn[], widthPx: number): ShownColumn[] => {
  const fitting = [...columns];
  const needPx = (nameWidthMaxPx = NAME_WIDTH_MIN_PX): number =>
    fitting.reduce(
      (sum, column) => sum + (column.isName ? Math.min(column.widthPx, nameWidthMaxPx) : column.widthPx),
      SELECT_WIDTH_PX,
    );
  while (needPx(NAME_WIDTH_MAX_PX) > widthPx) {
    const at = fitting.findLastIndex((column) => column.isExtra);
    if (at < 0) break;
    fitting.splice(at, 1);
  }
  while (needPx() > widthPx) {
    const at = fitting.findLastIndex((column) => !column.isName && !column.isStatus && !column.isAge);
    if (at < 0) break;
    fitting.splice(at, 1);
  }
  return fitting;
};

export const gridTemplate = (columns: readonly ShownColumn[]): string =>
  [
    `${SELECT_WIDTH_PX}px`,
    ...columns.map(({ isName, isNumber, isAge, widthPx }) =>
      isName
        ? `minmax(${NAME_WIDTH_MIN_PX}px, ${widthPx}fr)`
        : isNumber || isAge
          ? `${widthPx}px`
          : // What fits is never cut: only the name gives way.
            `minmax(${widthPx}px, ${widthPx}fr)`,
    ),
  ].join(' ');

import { jsonText } from '../../core/api/meta/json-text.ts';
import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import { CELLS_MAX, type TableCell, type TableColumn, type TableRow } from '../../core/contract/index.ts';

/** Lists and watches answer with rows where the server can, with objects where it cannot. */
export const TABLE_ACCEPT = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json',
].join(',');

const CELL_CHARACTERS_MAX = 1024;

/** Of a server that knows no tables. */
const PLAIN_COLUMNS: readonly TableColumn[] = [
  { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  { name: 'Age', type: 'date', format: '', description: '', priority: 0 },
];

export interface VersionedRow {
  readonly row: TableRow;
  readonly resourceVersion: string;
}

export interface TablePage {
  /** Absent in events after the first: the server sends columns once a watch. */
  readonly columns: readonly TableColumn[] | undefined;
  readonly rows: readonly VersionedRow[];
  readonly resourceVersion: string;
  readonly next: string;
  /** A bookmark has neither rows nor a name. */
  readonly remainingCount: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const cellOf = (value: unknown): TableCell => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : jsonText(value);
  return text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX)}…` : text;
};

const columnOf = (definition: unknown): TableColumn => {
  const { name, type, format, description, priority } = fieldsOf(definition);
  return {
    name: textOf(name),
    type: textOf(type),
    format: textOf(format),
    description: textOf(description),
    priority: typeof priority === 'number' ? priority : 0,
  };
};

const labelsOf = (labels: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fieldsOf(labels)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

const rowOf = (object: unknown, cells: readonly unknown[] | undefined): VersionedRow => {
  const metadata = fieldsOf(fieldsOf(object)['metadata']);
  const name = textOf(metadata['name']);
  const namespace = textOf(metadata['namespace']);
  const created = textOf(metadata['creationTimestamp']);
  const createdAtMs = Date.parse(created);
  return {
    resourceVersion: textOf(metadata['resourceVersion']),
    row: {
      key: `${namespace}/${name}`,
      uid: textOf(metadata['uid']),
      name,
      namespace,
      createdAtMs: Number.isNaN(createdAtMs) ? null : createdAtMs,
      isDeleting: metadata['deletionTimestamp'] !== undefined,
      labels: labelsOf(metadata['labels']),
      cells: (cells ?? [name, created]).slice(0, CELLS_MAX).map(cellOf),
    },
  };
};

/** A list answer or the object of a watch event: a Table, a List, or one object. */
export const readPage = (answer: unknown): TablePage => {
  const fields = fieldsOf(answer);
  const meta = fieldsOf(fields['metadata']);
  const remaining = meta['remainingItemCount'];
  const head = {
    resourceVersion: textOf(meta['resourceVersion']),
    next: textOf(meta['continue']),
    remainingCount: typeof remaining === 'number' ? remaining : undefined,
  };
  if (fields['kind'] === 'Table') {
    const definitions = listOf(fields['columnDefinitions']);
    const rows = listOf(fields['rows']).map((row) => {
      const { object, cells } = fieldsOf(row);
      return rowOf(object, listOf(cells));
    });
    return {
      ...head,
      rows,
      columns: definitions.length > 0 ? definitions.slice(0, CELLS_MAX).map(columnOf) : undefined,
    };
  }
  if (Array.isArray(fields['items']))
    return { ...head, columns: PLAIN_COLUMNS, rows: fields['items'].map((item) => rowOf(item, undefined)) };
  const isObject = typeof meta['name'] === 'string';
  return { ...head, columns: undefined, rows: isObject ? [rowOf(answer, undefined)] : [] };
};

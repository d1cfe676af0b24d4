import { jsonText } from '../../../api/meta/json-text.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { humanDuration } from '../../../api/meta/human-duration.ts';
import { parseTime } from '../../../api/meta/time.ts';
import type { TablePrinter } from '../../../api/scheme/index.ts';
import type { Cell, TableColumn } from '../../../api/scheme/table/index.ts';
import type { ColumnDefinition } from './custom-resource.ts';
import { parseJsonPath, type FindResults } from './json-path.ts';

const NAME: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
};

/** As `fmt.Fprint` of Go prints what a JSON path finds: objects and lists as JSON. */
const print = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '<nil>';
  return typeof value === 'object' ? jsonText(value) : String(value);
};

const cellOf = (type: string, value: unknown, nowMs: number): Cell => {
  if (value === null || value === undefined) return type === 'string' && value === null ? '<nil>' : null;
  switch (type) {
    case 'string':
      return print(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      if (typeof value !== 'string') return null;
      const ms = parseTime(value);
      return ms === undefined ? '<invalid>' : humanDuration(nowMs - ms);
    }
    default:
      return null;
  }
};

/** The columns of `kubectl get` that a definition names. `convert` gives objects in the version of the columns. */
export const customPrinter = (
  columns: readonly ColumnDefinition[],
  convert: (object: KubernetesObject) => KubernetesObject,
): TablePrinter => {
  const parsed: { readonly column: ColumnDefinition; readonly find: FindResults }[] = [];
  for (const column of columns) {
    const find = parseJsonPath(column.jsonPath);
    // As upstream: a column that cannot be read ends the list of columns.
    if (!find) break;
    parsed.push({ column, find });
  }
  return {
    columns: [
      NAME,
      ...parsed.map(({ column }) => ({
        name: column.name,
        type: column.type as TableColumn['type'],
        format: column.format,
        description:
          column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
        priority: column.priority,
      })),
    ],
    cells(object, nowMs) {
      const converted = convert(object);
      return [
        object.metadata?.name ?? '',
        ...parsed.map(({ column, find }) => cellOf(column.type, find(converted)[0], nowMs)),
      ];
    },
  };
};

import { humanDuration } from '../../meta/human-duration.ts';
import type { KubernetesObject } from '../../meta/object-meta.ts';
import { parseTime } from '../../meta/time.ts';

/** One column of a `meta.k8s.io/v1` Table; priority 1 is shown only by `-o wide`. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date' | 'number';
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export type Cell = string | number | bigint | boolean | null;

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Turns objects of one kind into rows. All columns are always filled; the client drops the wide ones. */
export interface TablePrinter {
  readonly columns: readonly TableColumn[];
  cells(object: KubernetesObject, nowMs: number): Cell[];
  conditions?(object: KubernetesObject): readonly RowCondition[] | undefined;
}

type Fields = Record<string, unknown>;

/** Reads of an object whose inside is known by its kind alone: what is absent reads as empty. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inside, name) => (inside as Fields | null | undefined)?.[name], value);
export const text = (value: unknown, ...path: readonly string[]): string => {
  const found = at(value, ...path);
  return found === undefined || found === null ? '' : String(found);
};
export const textOr = (fallback: string, value: unknown, ...path: readonly string[]): string =>
  text(value, ...path) || fallback;
export const count = (value: unknown, ...path: readonly string[]): number =>
  (at(value, ...path) as number | undefined) ?? 0;
export const list = (value: unknown, ...path: readonly string[]): Fields[] =>
  (at(value, ...path) as Fields[] | undefined) ?? [];
export const flag = (value: unknown, ...path: readonly string[]): boolean => at(value, ...path) === true;

export const nameOf = (object: KubernetesObject): string => object.metadata?.name ?? '';

/** How long ago; a time that was never set is unknown. */
export const since = (time: unknown, nowMs: number): string => {
  const ms = typeof time === 'string' ? parseTime(time) : undefined;
  return ms === undefined ? '<unknown>' : humanDuration(nowMs - ms);
};
export const ageOf = (object: KubernetesObject, nowMs: number): string =>
  since(object.metadata?.creationTimestamp, nowMs);

export const isDeleted = (object: KubernetesObject): boolean =>
  object.metadata?.deletionTimestamp !== undefined;

interface ColumnOptions {
  readonly type?: TableColumn['type'];
  readonly format?: string;
  readonly wide?: true;
}

export const column = (name: string, description: string, options: ColumnOptions = {}): TableColumn => ({
  name,
  type: options.type ?? 'string',
  format: options.format ?? '',
  description,
  priority: options.wide ? 1 : 0,
});

export const integer = (name: string, description: string): TableColumn =>
  column(name, description, { type: 'integer' });
export const boolean = (name: string, description: string): TableColumn =>
  column(name, description, { type: 'boolean' });
export const wide = (name: string, description: string): TableColumn =>
  column(name, description, { wide: true });

export const NAME = column('Name', 'The name, unique within its namespace and kind.', { format: 'name' });
export const AGE = column('Age', 'The time since the object was created.');

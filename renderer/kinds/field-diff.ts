import { jsonText } from '../../core/api/meta/json-text.ts';

/** What apply would change, field by field. */
export interface FieldChange {
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before: string;
  readonly after: string;
}

export const CHANGES_MAX = 500;
/** Items of these lists are told apart by a field of theirs, not by their place. */
const KEYS = ['name', 'key', 'containerPort', 'port', 'type', 'ip', 'topologyKey', 'mountPath'];

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const keyOfItems = (items: readonly unknown[]): string | undefined =>
  items.length === 0
    ? undefined
    : KEYS.find((key) => {
        const values = items.map((item) => (isFields(item) ? item[key] : undefined));
        return values.every((value) => value !== undefined) && new Set(values).size === values.length;
      });

const shown = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : jsonText(value);

/** Metadata that moves on its own would drown what the user changes. */
const IGNORED = new Set([
  'metadata.managedFields',
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.uid',
  'metadata.creationTimestamp',
  'status',
]);

export const fieldDiff = (before: unknown, after: unknown): FieldChange[] => {
  const changes: FieldChange[] = [];
  const visit = (path: string, left: unknown, right: unknown): void => {
    if (changes.length >= CHANGES_MAX || IGNORED.has(path)) return;
    if (isFields(left) && isFields(right)) {
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
        visit(
          path === '' ? key : key.includes('.') ? `${path}[${key}]` : `${path}.${key}`,
          left[key],
          right[key],
        );
      return;
    }
    const items = [left ?? [], right ?? []];
    if ((left !== undefined || right !== undefined) && items.every(Array.isArray)) {
      const [before, after] = items as [unknown[], unknown[]];
      const key = keyOfItems(before.length > 0 ? before : after);
      const isKeyed =
        key !== undefined && (after.length === 0 || before.length === 0 || keyOfItems(after) === key);
      if (isKeyed) {
        const names = new Set([...before, ...after].map((item) => String((item as Fields)[key])));
        const find = (list: readonly unknown[], name: string): unknown =>
          list.find((item) => String((item as Fields)[key]) === name);
        for (const name of names) visit(`${path}[${key}=${name}]`, find(before, name), find(after, name));
        return;
      }
    }
    if (jsonText(left) === jsonText(right)) return;
    const kind = left === undefined ? 'added' : right === undefined ? 'removed' : 'changed';
    // A whole part that is new or gone is told by its fields, which can be read.
    if (kind !== 'changed' && isFields(left ?? right) && Object.keys((left ?? right) as Fields).length > 0)
      return visit(path, left ?? {}, right ?? {});
    changes.push({ path, kind, before: shown(left), after: shown(right) });
  };
  visit('', before ?? {}, after ?? {});
  return changes;
};

/** Changes that belong together, under what their paths have in common. */
export interface FieldGroup {
  readonly path: string;
  readonly changes: readonly (FieldChange & { readonly name: string })[];
}

/** An item of a list is a group with all that is below it; other fields are grouped by what they are part of. */
const ITEM = /^.*?\[[^\]=]+=[^\]]*\](?=.)/;
const PARENT = /^(.*?)(?:\.[^.[\]]+|\[[^\]]*\])$/;
const groupPathOf = (path: string): string => ITEM.exec(path)?.[0] ?? PARENT.exec(path)?.[1] ?? '';
const nameIn = (path: string, group: string): string => {
  const rest = path.slice(group.length).replace(/^\./, '');
  return /^\[[^\]=]*\]$/.test(rest) ? rest.slice(1, -1) : rest;
};

export const groupsOf = (changes: readonly FieldChange[]): FieldGroup[] => {
  const groups = new Map<string, (FieldChange & { readonly name: string })[]>();
  for (const change of changes) {
    const path = groupPathOf(change.path);
    const group = groups.get(path) ?? [];
    group.push({ ...change, name: nameIn(change.path, path) });
    groups.set(path, group);
  }
  // What is closer to the root comes first, as in the manifest itself.
  return [...groups]
    .map(([path, grouped]) => ({ path, changes: grouped }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
};

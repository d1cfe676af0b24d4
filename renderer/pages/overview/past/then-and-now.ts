import type { HistoryContents } from '../../../../core/contract/index.ts';

export interface KindCount {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly then: number;
  readonly now: number;
}

/** Kinds that a person looks for first; the others follow where their number differs. */
const FIRST = [
  '/nodes',
  '/namespaces',
  'apps/deployments',
  'apps/statefulsets',
  '/pods',
  '/services',
  '/configmaps',
  '/secrets',
];
/** Written all the time, which says nothing about the cluster. */
const NOISE = new Set(['/events', 'events.k8s.io/events', 'coordination.k8s.io/leases']);
export const KINDS_SHOWN_MAX = 12;

type Row = HistoryContents['rows'][number];
const idOf = ({ group, plural }: Pick<Row, 'group' | 'plural'>): string => `${group}/${plural}`;

/** How many objects of each kind there were, beside how many there are. */
export const thenAndNow = (then: HistoryContents, now: HistoryContents): readonly KindCount[] => {
  const before = new Map(then.rows.map((row) => [idOf(row), row]));
  const after = new Map(now.rows.map((row) => [idOf(row), row]));
  const rows = [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const row = after.get(id) ?? before.get(id);
    if (!row || NOISE.has(id)) return [];
    const { group, plural, kind } = row;
    return [{ group, plural, kind, then: before.get(id)?.count ?? 0, now: after.get(id)?.count ?? 0 }];
  });
  const rank = (row: KindCount): number => {
    const at = FIRST.indexOf(idOf(row));
    return at < 0 ? FIRST.length : at;
  };
  return rows
    .filter((row) => rank(row) < FIRST.length || row.then !== row.now)
    .sort((a, b) => rank(a) - rank(b) || Math.abs(b.now - b.then) - Math.abs(a.now - a.then))
    .slice(0, KINDS_SHOWN_MAX);
};

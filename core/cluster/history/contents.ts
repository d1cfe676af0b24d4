import { HISTORY_ROWS_MAX, type HistoryContents, type HistoryList } from '../../contract/index.ts';
import { placeOf, prefixOf, REGISTRY } from './place.ts';
import type { Source } from './source.ts';

type Row = HistoryContents['rows'][number];

/** How many objects of each resource and namespace there were. Reads keys alone. */
export const contentsOf = async (source: Source): Promise<HistoryContents> => {
  const rows = new Map<string, Row>();
  const namespaces = new Map<string, number>();
  for await (const { key } of source.keys(REGISTRY)) {
    const place = placeOf(key);
    if (!place) continue;
    const { group, plural, kind, namespaced, namespace } = place;
    const id = `${group}/${plural}`;
    rows.set(id, { group, plural, kind, namespaced, count: (rows.get(id)?.count ?? 0) + 1 });
    if (namespace !== '') namespaces.set(namespace, (namespaces.get(namespace) ?? 0) + 1);
  }
  const byName = (a: string, b: string): number => (a < b ? -1 : 1);
  return {
    revision: source.revision,
    rows: [...rows.values()].sort((a, b) => byName(`${a.group} ${a.plural}`, `${b.group} ${b.plural}`)),
    namespaces: [...namespaces]
      .map(([name, count]) => ({ name, count }))
      .sort((a, b) => byName(a.name, b.name)),
  };
};

export interface ListQuery {
  readonly group: string;
  readonly plural: string;
  readonly namespace: string;
  readonly filter: string;
}

export const listObjects = async (source: Source, query: ListQuery): Promise<HistoryList> => {
  const rows: HistoryList['rows'] = [];
  let total = 0;
  for await (const { key, modRevision } of source.keys(prefixOf(query, query.namespace))) {
    const place = placeOf(key);
    if (!place || place.group !== query.group || place.plural !== query.plural) continue;
    if (!place.name.includes(query.filter)) continue;
    total += 1;
    if (rows.length < HISTORY_ROWS_MAX) rows.push({ key, ...place, modRevision });
  }
  return { revision: source.revision, rows, total };
};

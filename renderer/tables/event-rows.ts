import type { TableColumn, TableRow } from '../../core/contract/index.ts';

/** An event as the server's own columns tell it. */
export interface EventRow {
  readonly key: string;
  readonly namespace: string;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  /** `pod/web-1`, as the server prints it. */
  readonly object: string;
  readonly source: string;
  readonly count: number;
  readonly lastAtMs: number | undefined;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
};

/** `4m12s`, `3d2h`, `12s (x4 over 3m)`: the first age, in milliseconds. */
export const parseAge = (text: string): number | undefined => {
  const [age = ''] = text.trim().split(' ');
  const parts = [...age.matchAll(/(\d+)([smhdy])/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== age) return undefined;
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNITS_MS[unit ?? 's'] ?? 0), 0);
};

/** Ages are of the moment at which the server printed the row: `receivedAtMs`. */
export const eventRows = (
  rows: readonly TableRow[],
  columns: readonly TableColumn[],
  receivedAtMs: (row: TableRow) => number,
): EventRow[] => {
  const place = (name: string): number => columns.findIndex((column) => column.name === name);
  const places = {
    type: place('Type'),
    reason: place('Reason'),
    message: place('Message'),
    object: place('Object'),
    source: place('Source'),
    count: place('Count'),
    seen: place('Last Seen'),
  };
  return rows.map((row) => {
    const cell = (at: number): string => String(row.cells[at] ?? '');
    const ageMs = parseAge(cell(places.seen));
    return {
      key: row.key,
      namespace: row.namespace,
      isWarning: cell(places.type) === 'Warning',
      reason: cell(places.reason),
      message: cell(places.message),
      object: cell(places.object),
      source: cell(places.source),
      count: Math.max(1, Number(cell(places.count)) || 1),
      lastAtMs: ageMs === undefined ? (row.createdAtMs ?? undefined) : receivedAtMs(row) - ageMs,
    };
  });
};

export interface EventFilter {
  readonly text: string;
  readonly type: 'all' | 'Warning' | 'Normal';
  readonly namespaces: readonly string[];
}

export const filterEvents = (
  events: readonly EventRow[],
  { text, type, namespaces }: EventFilter,
): EventRow[] => {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return events.filter((event) => {
    if (type !== 'all' && event.isWarning !== (type === 'Warning')) return false;
    if (namespaces.length > 0 && !namespaces.includes(event.namespace)) return false;
    const whole = `${event.object} ${event.reason} ${event.message} ${event.namespace}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
};

/** Newest first; of two of one moment the one with the larger name, so that the order is one. */
export const newestFirst = (events: readonly EventRow[]): EventRow[] =>
  [...events].sort((a, b) => (b.lastAtMs ?? 0) - (a.lastAtMs ?? 0) || (a.key < b.key ? 1 : -1));

export interface EventGroup {
  readonly key: string;
  readonly object: string;
  readonly namespace: string;
  readonly warnings: number;
  readonly lastAtMs: number | undefined;
  readonly events: readonly EventRow[];
}

/** What happened to each object; the object of the newest event on top. */
export const groupEvents = (events: readonly EventRow[]): EventGroup[] => {
  const groups = new Map<string, EventRow[]>();
  for (const event of newestFirst(events)) {
    const key = `${event.namespace}/${event.object}`;
    const group = groups.get(key);
    if (group) group.push(event);
    else groups.set(key, [event]);
  }
  return [...groups].map(([key, list]) => ({
    key,
    object: list[0]!.object,
    namespace: list[0]!.namespace,
    warnings: list.filter(({ isWarning }) => isWarning).length,
    lastAtMs: list[0]!.lastAtMs,
    events: list,
  }));
};

/** `pod/web-1` apart: the server prints kinds in small letters. */
export const splitObject = (object: string): { readonly kind: string; readonly name: string } => {
  const at = object.indexOf('/');
  return at < 0 ? { kind: '', name: object } : { kind: object.slice(0, at), name: object.slice(at + 1) };
};

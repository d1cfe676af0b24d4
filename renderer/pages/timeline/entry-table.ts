import {
  TIMELINE_ENTRIES_MAX,
  TIMELINE_LANES,
  type Severity,
  type TimelineEntry,
  type TimelineLane,
} from '../../../core/contract/index.ts';
import type { TimeRange } from './time-range.ts';

export const SEVERITIES = ['ok', 'info', 'warn', 'error'] as const satisfies readonly Severity[];

/** One lane as columns of numbers: a frame walks over a hundred thousand of them. */
export interface LaneColumns {
  readonly lane: TimelineLane;
  readonly entries: readonly TimelineEntry[];
  /** Ascending. */
  readonly atMs: Float64Array;
  /** Of a moment the moment itself; infinite for what lasts. */
  readonly endMs: Float64Array;
  readonly severity: Uint8Array;
}

const columnsOf = (lane: TimelineLane, entries: readonly TimelineEntry[]): LaneColumns => {
  const atMs = new Float64Array(entries.length);
  const endMs = new Float64Array(entries.length);
  const severity = new Uint8Array(entries.length);
  entries.forEach((entry, place) => {
    atMs[place] = entry.atMs;
    endMs[place] = entry.isOpen ? Infinity : (entry.endMs ?? entry.atMs);
    severity[place] = SEVERITIES.indexOf(entry.severity);
  });
  return { lane, entries, atMs, endMs, severity };
};

/** The first place whose moment is not before. */
export const lowerBound = (atMs: Float64Array, moment: number): number => {
  let low = 0;
  let high = atMs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (atMs[middle]! < moment) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Everything that is known of a timeline. Immutable: a batch makes the next one. */
export class EntryTable {
  readonly byId: ReadonlyMap<number, TimelineEntry>;
  readonly lanes: readonly LaneColumns[];
  readonly count: number;
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  #effects: ReadonlyMap<number, readonly TimelineEntry[]> | undefined;

  constructor(byId: ReadonlyMap<number, TimelineEntry> = new Map()) {
    this.byId = byId;
    this.count = byId.size;
    const groups = new Map<TimelineLane, TimelineEntry[]>(TIMELINE_LANES.map((lane) => [lane, []]));
    for (const entry of byId.values()) groups.get(entry.lane)?.push(entry);
    this.lanes = [...groups].map(([lane, entries]) =>
      columnsOf(
        lane,
        entries.sort((a, b) => a.atMs - b.atMs || a.id - b.id),
      ),
    );
    const firsts = this.lanes.flatMap(({ atMs }) => (atMs.length > 0 ? [atMs[0]!] : []));
    const lasts = this.lanes.flatMap(({ atMs }) => (atMs.length > 0 ? [atMs[atMs.length - 1]!] : []));
    this.firstMs = firsts.length > 0 ? Math.min(...firsts) : undefined;
    this.lastMs = lasts.length > 0 ? Math.max(...lasts) : undefined;
  }

  with(more: readonly TimelineEntry[]): EntryTable {
    const byId = new Map(this.byId);
    for (const entry of more) {
      // An entry that comes again has lost nothing: a cause that was found once stays.
      const known = byId.get(entry.id);
      byId.set(entry.id, known && entry.cause === null ? { ...entry, cause: known.cause } : entry);
    }
    for (const id of byId.keys()) {
      if (byId.size <= TIMELINE_ENTRIES_MAX) break;
      byId.delete(id);
    }
    return new EntryTable(byId);
  }

  effectsOf(id: number): readonly TimelineEntry[] {
    if (!this.#effects) {
      const effects = new Map<number, TimelineEntry[]>();
      for (const entry of this.byId.values())
        if (entry.cause !== null) {
          const list = effects.get(entry.cause);
          if (list) list.push(entry);
          else effects.set(entry.cause, [entry]);
        }
      this.#effects = effects;
    }
    return this.#effects.get(id) ?? [];
  }

  /** Its causes and all that follows from it, within a bound. */
  relatedTo(id: number, limit = 512): ReadonlySet<number> {
    const related = new Set([id]);
    for (let at = this.byId.get(id)?.cause ?? null; at !== null && related.size < limit;) {
      if (related.has(at)) break;
      related.add(at);
      at = this.byId.get(at)?.cause ?? null;
    }
    const waiting = [id];
    for (let next = waiting.shift(); next !== undefined && related.size < limit; next = waiting.shift())
      for (const effect of this.effectsOf(next))
        if (!related.has(effect.id)) {
          related.add(effect.id);
          waiting.push(effect.id);
        }
    return related;
  }

  /** Newest first, of the lanes asked for, at most so many; and how many there are. */
  inRange(
    { fromMs, toMs }: TimeRange,
    lanes: ReadonlySet<TimelineLane>,
    limit: number,
  ): { readonly entries: readonly TimelineEntry[]; readonly count: number } {
    let count = 0;
    const found: TimelineEntry[] = [];
    for (const { lane, entries, atMs, endMs } of this.lanes) {
      if (!lanes.has(lane)) continue;
      const end = lowerBound(atMs, toMs);
      let kept = 0;
      for (let place = end - 1; place >= 0; place -= 1) {
        if (endMs[place]! < fromMs) continue;
        count += 1;
        // The newest of each lane are enough to find the newest of all.
        if (kept < limit) found.push(entries[place]!);
        kept += 1;
      }
    }
    found.sort((a, b) => b.atMs - a.atMs || b.id - a.id);
    return { entries: found.slice(0, limit), count };
  }
}

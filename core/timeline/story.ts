import type { Severity, TimelineEntry } from '../contract/index.ts';

const CHAIN_MAX = 32;

/** When it was over: now, for what lasts. */
export const endOf = ({ atMs, endMs, isOpen }: TimelineEntry, nowMs: number): number =>
  isOpen ? Math.max(atMs, nowMs) : (endMs ?? atMs);

/** Those that touch a range of time, oldest first. */
export const within = (
  entries: readonly TimelineEntry[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly TimelineEntry[] => entries.filter((entry) => entry.atMs <= toMs && endOf(entry, toMs) >= fromMs);

/** From an entry back to what it began with, nearest first; without the entry itself. */
export const causesOf = (
  entry: TimelineEntry,
  byId: ReadonlyMap<number, TimelineEntry>,
): readonly TimelineEntry[] => {
  const chain: TimelineEntry[] = [];
  for (let at = entry.cause; at !== null && chain.length < CHAIN_MAX;) {
    const cause = byId.get(at);
    if (!cause || cause.id === entry.id || chain.includes(cause)) break;
    chain.push(cause);
    at = cause.cause;
  }
  return chain;
};

const RANKS: Readonly<Record<Severity, number>> = { ok: 0, info: 1, warn: 2, error: 3 };

/** Beginnings of chains that led to something, the most consequential first. */
export const rootsOf = (
  entries: readonly TimelineEntry[],
): readonly { readonly root: TimelineEntry; readonly effects: readonly TimelineEntry[] }[] => {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const effects = new Map<number, TimelineEntry[]>();
  for (const entry of entries) {
    const root = causesOf(entry, byId).at(-1);
    if (!root) continue;
    const list = effects.get(root.id);
    if (list) list.push(entry);
    else effects.set(root.id, [entry]);
  }
  const weight = (list: readonly TimelineEntry[]): number =>
    list.reduce((sum, { severity }) => sum + RANKS[severity], 0);
  return [...effects]
    .map(([id, list]) => ({ root: byId.get(id)!, effects: list }))
    .sort((a, b) => weight(b.effects) - weight(a.effects) || a.root.atMs - b.root.atMs);
};

import type { EtcdEvent } from '../../../core/contract/index.ts';

export interface Leadership {
  readonly member: string;
  readonly term: number;
  readonly fromMs: number;
  /** Null while it lasts. */
  readonly toMs: number | null;
}

export interface Absence {
  readonly member: string;
  readonly fromMs: number;
  readonly toMs: number | null;
}

/** How a leader came: `down`, the one before had gone; `moved`, the one before was still there; `first`, none was known. */
export type ElectionCause = 'down' | 'moved' | 'first';

export interface Election {
  readonly atMs: number;
  readonly term: number;
  readonly to: string;
  readonly from: string | undefined;
  /** Without a leader; null where it was not seen. */
  readonly durationMs: number | null;
  readonly cause: ElectionCause;
}

export interface RaftHistory {
  /** Before this no one looked. */
  readonly sinceMs: number | undefined;
  /** Everyone who is told of, in the order of their names. */
  readonly members: readonly string[];
  readonly leaderships: readonly Leadership[];
  readonly absences: readonly Absence[];
  /** Times without a leader. */
  readonly vacancies: readonly { readonly fromMs: number; readonly toMs: number | null }[];
  readonly elections: readonly Election[];
  readonly presences: readonly Absence[];
}

/** A member may be seen to be down some seconds before or after its lead is seen to be lost. */
const SAME_FAILURE_MS = 10_000;

const byName = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** Which members were there, from when to when: all the time, unless told otherwise. */
const presencesOf = (events: readonly EtcdEvent[], sinceMs: number): readonly Absence[] => {
  const spans: Open<Absence>[] = [];
  for (const { kind, member, atMs } of events) {
    if (member === '') continue;
    const open = spans.find((span) => span.member === member && span.toMs === null);
    if (kind === 'memberAdded') {
      if (!open) spans.push({ member, fromMs: atMs, toMs: null });
    } else if (kind === 'memberRemoved') {
      if (open) open.toMs = atMs;
      else spans.push({ member, fromMs: sinceMs, toMs: atMs });
    } else if (!spans.some((span) => span.member === member))
      spans.push({ member, fromMs: sinceMs, toMs: null });
  }
  return spans;
};

const absencesOf = (events: readonly EtcdEvent[]): readonly Absence[] => {
  const spans: Open<Absence>[] = [];
  for (const { kind, member, atMs } of events) {
    const open = spans.find((span) => span.member === member && span.toMs === null);
    if (kind === 'memberDown' && !open) spans.push({ member, fromMs: atMs, toMs: null });
    else if ((kind === 'memberUp' || kind === 'memberRemoved') && open) open.toMs = atMs;
  }
  return spans;
};

/** What the events tell, as stretches of time. Events may come in any order; the same one twice changes nothing. */
export const raftHistory = (told: readonly EtcdEvent[]): RaftHistory => {
  const events = told.toSorted((a, b) => a.atMs - b.atMs);
  const sinceMs = events[0]?.atMs;
  const absences = absencesOf(events);
  const leaderships: Open<Leadership>[] = [];
  const vacancies: Open<RaftHistory['vacancies'][number]>[] = [];
  const elections: Election[] = [];

  for (const event of events) {
    const last = leaderships.at(-1);
    const vacancy = vacancies.at(-1);
    if (event.kind === 'leaderLost') {
      if (last && last.toMs === null) last.toMs = event.atMs;
      if (!vacancy || vacancy.toMs !== null) vacancies.push({ fromMs: event.atMs, toMs: null });
    } else if (event.kind === 'leader') {
      if (last?.toMs === null && last.member === event.member && last.term === event.term) continue;
      const lostMs = event.durationMs === null ? event.atMs : event.atMs - event.durationMs;
      if (last && last.toMs === null) last.toMs = Math.max(last.fromMs, lostMs);
      if (vacancy && vacancy.toMs === null) vacancy.toMs = event.atMs;
      else if (event.durationMs !== null) vacancies.push({ fromMs: lostMs, toMs: event.atMs });
      const hasGone = absences.some(
        ({ member, fromMs }) =>
          member === last?.member &&
          fromMs >= (last.toMs ?? lostMs) - SAME_FAILURE_MS &&
          fromMs <= event.atMs + SAME_FAILURE_MS,
      );
      elections.push({
        atMs: event.atMs,
        term: event.term,
        to: event.member,
        from: last?.member,
        durationMs: event.durationMs,
        cause: !last ? 'first' : hasGone ? 'down' : 'moved',
      });
      leaderships.push({ member: event.member, term: event.term, fromMs: event.atMs, toMs: null });
    }
  }
  return {
    sinceMs,
    members: [...new Set(events.map(({ member }) => member).filter((name) => name !== ''))].sort(byName),
    leaderships,
    absences,
    vacancies,
    elections,
    presences: sinceMs === undefined ? [] : presencesOf(events, sinceMs),
  };
};

/** Each term once, from its first leader until the next term has one. */
export const termSpans = ({ leaderships }: RaftHistory): readonly Omit<Leadership, 'member'>[] =>
  leaderships
    .filter(({ term }, index) => leaderships[index - 1]?.term !== term)
    .map(({ term, fromMs }, index, all) => ({ term, fromMs, toMs: all[index + 1]?.fromMs ?? null }));

/** Elections within a window that were one: the first leader that was ever seen had been elected before. */
export const electionsSince = (history: RaftHistory, fromMs: number): readonly Election[] =>
  history.elections.filter(({ atMs, cause }) => atMs >= fromMs && cause !== 'first');

export const longestVacancyMs = (elections: readonly Election[]): number =>
  Math.max(0, ...elections.map(({ durationMs }) => durationMs ?? 0));

import type { Lane, LaneBar, LaneMark } from '../../components/lane-layout.ts';
import { formatClock, formatDuration, formatMoment, formatSeconds } from '../../locales/format.ts';
import { t } from '../../locales/i18n.ts';
import { electionsSince, termSpans, type Election, type RaftHistory } from './raft-history.ts';

const TERM_LANE = '\u0000term';
const DAY_MS = 86_400_000;

const byName = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** A clock is enough on the same day; before that the date matters. */
const momentOf = (atMs: number, nowMs: number): string =>
  nowMs - atMs < DAY_MS ? formatClock(atMs) : formatMoment(atMs);

const electionText = ({ cause, from = '', to, durationMs }: Election): string => {
  const duration = durationMs === null ? undefined : formatSeconds(durationMs);
  if (cause === 'down')
    return duration === undefined
      ? t('raft.election.down', { from, to })
      : t('raft.election.down.for', { from, duration });
  return duration === undefined
    ? t('raft.election.moved', { to })
    : t('raft.election.moved.for', { to, duration });
};

const electionLabel = ({ atMs, term, to, from = '', durationMs }: Election, nowMs: number): string => {
  const facts = { time: momentOf(atMs, nowMs), to, term: String(term), from };
  return durationMs === null
    ? t('raft.election.label.unknown', facts)
    : t('raft.election.label', { ...facts, duration: formatSeconds(durationMs) });
};

/** The history as lanes, bars and marks with their words. */
export const timelineOf = (
  history: RaftHistory,
  memberNames: readonly string[],
  { fromMs, nowMs }: { readonly fromMs: number; readonly nowMs: number },
): {
  readonly lanes: readonly Lane[];
  readonly bars: readonly LaneBar[];
  readonly marks: readonly LaneMark[];
} => {
  const seen = history.presences.filter(({ toMs }) => (toMs ?? nowMs) >= fromMs).map(({ member }) => member);
  const names = [...new Set([...memberNames, ...seen])].sort(byName);
  const lanes = [
    ...names.map((name): Lane => ({ id: name, label: name })),
    { id: TERM_LANE, label: t('raft.lane.term'), isCaption: true },
  ];
  const told = new Set(history.presences.map(({ member }) => member));
  const sinceMs = history.sinceMs ?? nowMs;
  const ageOf = (from: number, to: number | null) => ({
    from: momentOf(from, nowMs),
    to: to === null ? '' : momentOf(to, nowMs),
    age: formatDuration((to ?? nowMs) - from),
  });
  const tracks = [
    ...history.presences,
    // A member that was there all the time is in no event.
    ...memberNames
      .filter((name) => !told.has(name))
      .map((member) => ({ member, fromMs: sinceMs, toMs: null })),
  ];
  const bars: LaneBar[] = [
    ...tracks.map(({ member, fromMs: start, toMs }, index): LaneBar => ({
      id: `there-${index}`,
      lane: member,
      fromMs: start,
      toMs: toMs ?? nowMs,
      tone: 'track',
      text: '',
    })),
    ...history.leaderships.map(({ member, term, fromMs: start, toMs }): LaneBar => ({
      id: `lead-${term}-${start}`,
      lane: member,
      fromMs: start,
      toMs: toMs ?? nowMs,
      tone: toMs === null ? 'now' : 'past',
      text: t('raft.bar.leads', { term: String(term) }),
      label: t(toMs === null ? 'raft.bar.leads.label' : 'raft.bar.led.label', {
        member,
        term: String(term),
        ...ageOf(start, toMs),
      }),
    })),
    ...history.absences.map(({ member, fromMs: start, toMs }): LaneBar => ({
      id: `down-${member}-${start}`,
      lane: member,
      fromMs: start,
      toMs: toMs ?? nowMs,
      tone: 'idle',
      text: '',
      label: t(toMs === null ? 'raft.bar.isDown.label' : 'raft.bar.down.label', {
        member,
        ...ageOf(start, toMs),
      }),
    })),
    ...termSpans(history).map(({ term, fromMs: start, toMs }): LaneBar => ({
      id: `term-${term}-${start}`,
      lane: TERM_LANE,
      fromMs: start,
      toMs: toMs ?? nowMs,
      tone: 'caption',
      text: String(term),
    })),
    ...history.vacancies.map(({ fromMs: start, toMs }): LaneBar => ({
      id: `vacant-${start}`,
      lane: TERM_LANE,
      fromMs: start,
      toMs: toMs ?? nowMs,
      tone: 'missing',
      text: '',
      // A past one is told by its election.
      ...(toMs === null && { label: t('raft.bar.vacant.label', ageOf(start, null)) }),
    })),
  ];
  const marks = electionsSince(history, fromMs).map((election): LaneMark => ({
    id: `election-${election.term}-${election.atMs}`,
    atMs: election.atMs,
    text: electionText(election),
    label: electionLabel(election, nowMs),
  }));
  return { lanes, bars, marks };
};

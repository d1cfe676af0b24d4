import type { EtcdMember, EtcdView } from '../../../core/contract/index.ts';
import type { SampleValue } from '../../components/sparkline-path.ts';

/** Two minutes at one sample a second. */
export const MEMBER_SAMPLES_MAX = 120;
/** A sample this late leaves a gap: the time in between is not known. */
const GAP_MS = 2_500;

/** While there is no leader the members are asked more often; the lines keep their pace. */
const PACE_MS_MIN = 800;

/** The newest views, about one a second: a hasty one is shown until the next comes, and then dropped. */
export const withView = (views: readonly EtcdView[], view: EtcdView): readonly EtcdView[] => {
  const [before, last] = views.slice(-2);
  const isHasty = before && last && last.atMs - before.atMs < PACE_MS_MIN;
  return [...(isHasty ? views.slice(0, -1) : views), view].slice(-MEMBER_SAMPLES_MAX);
};

const hasGap = (before: EtcdView | undefined, view: EtcdView): boolean =>
  before !== undefined && view.atMs - before.atMs > GAP_MS;

const series = (
  views: readonly EtcdView[],
  valueOf: (view: EtcdView, before: EtcdView | undefined) => SampleValue,
): readonly SampleValue[] =>
  views.flatMap((view, index) => {
    const before = views[index - 1];
    const value = valueOf(view, before);
    return hasGap(before, view) ? [undefined, value] : [value];
  });

/** What streamed in about one member while a page showed it; a member that did not answer leaves a gap. */
export const memberSeries = (
  views: readonly EtcdView[],
  id: string,
  field: 'lag' | 'fsyncP99Ms',
): readonly SampleValue[] =>
  series(views, ({ members }) => {
    const member = members.find((one) => one.id === id);
    return member && member.role !== 'unreachable' ? (member[field] ?? undefined) : undefined;
  });

export const newestIndex = (members: readonly Pick<EtcdMember, 'raftIndex' | 'role'>[]): number =>
  Math.max(0, ...members.filter(({ role }) => role !== 'unreachable').map(({ raftIndex }) => raftIndex));

/** Entries that were added to the log, per second, from one sample to the next. */
export const entriesPerSecond = (views: readonly EtcdView[]): readonly SampleValue[] =>
  series(views, (view, before) => {
    if (!before || hasGap(before, view) || view.atMs <= before.atMs) return undefined;
    const [from, to] = [newestIndex(before.members), newestIndex(view.members)];
    // After a restore the log starts over; if no member responds, there is no index.
    return from === 0 || to < from ? undefined : ((to - from) * 1000) / (view.atMs - before.atMs);
  });

export type LogCell = 'applied' | 'stored' | 'missing';

/** The newest entries of the log at one member, newest last: applied, only stored, or not there yet. */
export const logCells = (
  member: Pick<EtcdMember, 'raftIndex' | 'raftAppliedIndex'>,
  newest: number,
  count: number,
): readonly LogCell[] =>
  Array.from({ length: count }, (_, place) => {
    const index = newest - count + 1 + place;
    if (index > member.raftIndex) return 'missing';
    return index > member.raftAppliedIndex ? 'stored' : 'applied';
  });

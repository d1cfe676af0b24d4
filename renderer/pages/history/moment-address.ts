import type { HistoryMoments, HistorySample, Moment } from '../../../core/contract/index.ts';

type Query = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const revisionOf = (value: unknown): number | null => {
  const text = textOf(value);
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
};

/** `?snapshot=FILE&revision=N`, `?revision=N`, or nothing for now. */
export const momentOf = (query: Query): Moment => {
  const file = textOf(query['snapshot']);
  const revision = revisionOf(query['revision']);
  if (file !== '') return { kind: 'snapshot', file, revision };
  return revision === null ? { kind: 'now' } : { kind: 'revision', revision };
};

export const queryOf = (moment: Moment): Record<string, string | undefined> => ({
  snapshot: moment.kind === 'snapshot' ? moment.file : undefined,
  revision: moment.kind === 'now' || moment.revision === null ? undefined : String(moment.revision),
});

/** The other end of a comparison: `?with=snapshot:FILE`, `?with=revision:N`, or nothing for now. */
export const otherMomentOf = (query: Query): Moment => {
  const [kind = '', ...rest] = textOf(query['with']).split(':');
  const value = rest.join(':');
  if (kind === 'snapshot' && value !== '') return { kind: 'snapshot', file: value, revision: null };
  const revision = kind === 'revision' ? revisionOf(value) : null;
  return revision === null ? { kind: 'now' } : { kind: 'revision', revision };
};

export const otherQueryOf = (moment: Moment): string => {
  if (moment.kind === 'now') return '';
  return moment.kind === 'snapshot' ? `snapshot:${moment.file}` : `revision:${moment.revision}`;
};

/** `apps/deployments`; core resources begin with the slash. */
export const resourceOf = (query: Query): { readonly group: string; readonly plural: string } | undefined => {
  const [group = '', plural = ''] = textOf(query['kind']).split('/');
  return plural === '' ? undefined : { group, plural };
};

/**
 * When a revision was written, between the samples around it. Samples that go back in time are of a clock that was set;
 * between those nothing is known.
 */
export const timeAt = (samples: readonly HistorySample[], revision: number): number | undefined => {
  const after = samples.findIndex((sample) => sample.revision >= revision);
  const next = samples[after];
  if (!next) return undefined;
  const before = samples[after - 1];
  if (next.revision === revision || !before) return next.revision === revision ? next.atMs : undefined;
  if (before.atMs > next.atMs) return undefined;
  const share = (revision - before.revision) / (next.revision - before.revision);
  return before.atMs + share * (next.atMs - before.atMs);
};

/** What there is to go back to, newest first, for a list to choose from. */
export const choicesOf = (
  moments: HistoryMoments | undefined,
): readonly { readonly file: string; readonly name: string; readonly createdAtMs: number }[] =>
  (moments?.snapshots ?? []).filter(({ problem }) => problem === null);

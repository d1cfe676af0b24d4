import type { TimelineEntry } from '../../../core/contract/index.ts';
import { timelinePicture } from '../../../core/timeline/picture.ts';
import { postMortem, type ReportWords } from '../../../core/timeline/post-mortem.ts';
import { formatCount, formatMoment, formatSeconds } from '../../locales/format.ts';
import { t, tell } from '../../locales/i18n.ts';
import type { TimeRange } from './time-range.ts';

const words = (): ReportWords => ({
  title: (cluster) => t('timelinePage.report.title', { cluster }),
  impact: t('timelinePage.report.impact'),
  noImpact: t('timelinePage.report.noImpact'),
  impairment: (kind) => t(`timelinePage.impact.${kind}`),
  impactText: ({ count, total, longest }) =>
    count === 1 ? total : t('timelinePage.report.impactText', { count: formatCount(count), total, longest }),
  notOver: t('timelinePage.report.notOver'),
  unknown: t('timelinePage.report.unknown'),
  chains: t('timelinePage.report.chains'),
  noChains: t('timelinePage.report.noChains'),
  timeline: t('timelinePage.title'),
  columns: [
    t('timelinePage.column.time'),
    t('timelinePage.column.lane'),
    t('timelinePage.column.what'),
    t('timelinePage.column.duration'),
    t('timelinePage.column.cause'),
  ],
  followUp: t('timelinePage.report.followUp'),
  followUpText: t('timelinePage.report.followUpText'),
  pictureLabel: t('timelinePage.report.picture'),
  more: (count) => t('timelinePage.report.more', { count }),
  effectsMore: (count) => t('timelinePage.effects.more', { count: formatCount(count) }),
  range: (from, to, count) => t('timelinePage.report.range', { from, to, count }),
  damaged: (count) => t('timelinePage.lead.damaged', { count }),
  laneName: (lane) => t(`timelinePage.lane.${lane}`),
  say: tell,
  timeText: formatMoment,
  durationText: formatSeconds,
});

export interface ReportFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** The report and its picture, which it refers to by name. */
export const reportFiles = (
  entries: readonly TimelineEntry[],
  { cluster, range, damagedLines }: { cluster: string; range: TimeRange; damagedLines: number },
): readonly ReportFile[] => {
  const stamp = new Date(range.toMs).toISOString().slice(0, 16).replaceAll(/[-:]/g, '');
  const base = `post-mortem-${cluster}-${stamp}`;
  const told = words();
  const picture = `${base}.svg`;
  return [
    {
      name: `${base}.md`,
      type: 'text/markdown',
      text: postMortem(entries, { cluster, ...range, damagedLines, picture, words: told }),
    },
    {
      name: picture,
      type: 'image/svg+xml',
      text: timelinePicture(entries, { ...range, laneName: told.laneName, timeText: formatMoment }),
    },
  ];
};

export const saveFile = ({ name, type, text }: ReportFile): void => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};

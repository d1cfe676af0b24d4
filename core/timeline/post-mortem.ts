import type { Said, TimelineEntry, TimelineLane } from '../contract/index.ts';
import { blindSpots, impactOf, type Impact, type Impairment } from './impact.ts';
import { causesOf, endOf, rootsOf, within } from './story.ts';

/** A report is read by people: the rest is in the export of the log. */
const ROWS_MAX = 1_000;
const CHAINS_MAX = 10;
const EFFECTS_MAX = 12;

/** The words of the reader's language. */
export interface ReportWords {
  title(cluster: string): string;
  readonly impact: string;
  readonly noImpact: string;
  impairment(kind: Impairment): string;
  /** `3 times, 40 s in total, 20 s at the longest`. */
  impactText(impact: { readonly count: number; readonly total: string; readonly longest: string }): string;
  readonly notOver: string;
  readonly unknown: string;
  readonly noChains: string;
  readonly chains: string;
  readonly timeline: string;
  readonly columns: readonly [time: string, lane: string, what: string, duration: string, cause: string];
  readonly followUp: string;
  readonly followUpText: string;
  readonly pictureLabel: string;
  more(count: number): string;
  effectsMore(count: number): string;
  range(from: string, to: string, count: number): string;
  damaged(count: number): string;
  laneName(lane: TimelineLane): string;
  say(text: Said): string;
  timeText(atMs: number): string;
  durationText(ms: number): string;
}

export interface ReportOptions {
  readonly cluster: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly damagedLines: number;
  /** The name of the image beside the report. */
  readonly picture: string;
  readonly words: ReportWords;
}

/** No cell may end a row or begin a link: what stands in it came from a cluster. */
const cell = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll(/[|[\]<>`*_]/g, (character) => `\\${character}`)
    .replaceAll(/\s+/g, ' ')
    .trim();

const impactLine = (impact: Impact, words: ReportWords): string => {
  const { kind, count, totalMs, longestMs, isOpen } = impact;
  const [total, longest] = [words.durationText(totalMs), words.durationText(longestMs)];
  return `- ${words.impairment(kind)}: ${words.impactText({ count, total, longest })}${isOpen ? `; ${words.notOver}` : ''}`;
};

/** A time range as a report: what it meant, what began it, what followed, every entry, and what is not known. */
export const postMortem = (entries: readonly TimelineEntry[], options: ReportOptions): string => {
  const { cluster, fromMs, toMs, damagedLines, picture, words } = options;
  const shown = within(entries, { fromMs, toMs });
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const sentence = ({ text }: TimelineEntry): string => cell(words.say(text));
  const chains = rootsOf(shown)
    .slice(0, CHAINS_MAX)
    .flatMap(({ root, effects }) => [
      `- **${words.timeText(root.atMs)}** ${sentence(root)}`,
      ...effects
        .slice(0, EFFECTS_MAX)
        .map((effect) => `  - ${words.timeText(effect.atMs)} ${sentence(effect)}`),
      ...(effects.length > EFFECTS_MAX ? [`  - ${words.effectsMore(effects.length - EFFECTS_MAX)}`] : []),
    ]);
  const rows = shown.slice(0, ROWS_MAX).map((entry) => {
    const [cause] = causesOf(entry, byId);
    const durationMs = endOf(entry, toMs) - entry.atMs;
    return `| ${[
      words.timeText(entry.atMs),
      cell(words.laneName(entry.lane)),
      sentence(entry),
      durationMs > 0 ? words.durationText(durationMs) : '',
      cause ? sentence(cause) : '',
    ].join(' | ')} |`;
  });
  const impact = impactOf(shown, { fromMs, toMs }).map((one) => impactLine(one, words));
  const unknown = [
    ...(damagedLines > 0 ? [`- ${words.damaged(damagedLines)}`] : []),
    ...blindSpots(shown).map((entry) => `- ${words.timeText(entry.atMs)} ${sentence(entry)}`),
  ];
  return [
    `# ${cell(words.title(cluster))}`,
    '',
    words.range(words.timeText(fromMs), words.timeText(toMs), shown.length),
    '',
    `![${cell(words.pictureLabel)}](${encodeURI(picture)})`,
    '',
    `## ${words.impact}`,
    '',
    ...(impact.length > 0 ? impact : [words.noImpact]),
    '',
    `## ${words.chains}`,
    '',
    ...(chains.length > 0 ? chains : [words.noChains]),
    '',
    `## ${words.timeline}`,
    '',
    `| ${words.columns.join(' | ')} |`,
    `| ${words.columns.map(() => '---').join(' | ')} |`,
    ...rows,
    ...(shown.length > ROWS_MAX ? ['', words.more(shown.length - ROWS_MAX)] : []),
    '',
    ...(unknown.length > 0 ? [`## ${words.unknown}`, '', ...unknown.slice(0, CHAINS_MAX * 2), ''] : []),
    `## ${words.followUp}`,
    '',
    words.followUpText,
    '',
  ].join('\n');
};

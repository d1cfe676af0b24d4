import type { Said, TimelineEntry, TimelineLane } from '../contract/index.ts';
import { causesOf, endOf, rootsOf, within } from './story.ts';

/** A report is read by people: the rest is in the export of the log. */
const ROWS_MAX = 1_000;
const CHAINS_MAX = 10;
const EFFECTS_MAX = 12;

/** The words of the reader's language. */
export interface ReportWords {
  title(cluster: string): string;
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

/** A time range as a report: what began it, what followed, and every entry. */
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
  return [
    `# ${cell(words.title(cluster))}`,
    '',
    words.range(words.timeText(fromMs), words.timeText(toMs), shown.length),
    ...(damagedLines > 0 ? ['', words.damaged(damagedLines)] : []),
    '',
    `![${cell(words.pictureLabel)}](${encodeURI(picture)})`,
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
    `## ${words.followUp}`,
    '',
    words.followUpText,
    '',
  ].join('\n');
};

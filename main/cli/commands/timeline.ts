import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parseDurationMs } from '../../../core/base/duration.ts';
import { stateOrNone } from '../../../core/cluster/checks/gather.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import { readTimeline } from '../../../core/cluster/timeline/read-timeline.ts';
import {
  inEnglish,
  TIMELINE_LANES,
  type TimelineEntry,
  type TimelineLane,
} from '../../../core/contract/index.ts';
import { timelinePicture } from '../../../core/timeline/picture.ts';
import type { Impairment } from '../../../core/timeline/impact.ts';
import { postMortem, type ReportWords } from '../../../core/timeline/post-mortem.ts';
import { causesOf, endOf, within } from '../../../core/timeline/story.ts';
import { EXIT_OK, parseOptions, usageError, type Command, type CommandContext } from '../command.ts';

const USAGE = `  pilothouse timeline [--since 1h|TIME] [--until TIME] [--around TIME] [--lane LANE,LANE]
                      [--markdown FILE] [--data DIR] [-o json]

  Prints what happened to the cluster: actions, injected faults, process exits, elections, leases, node conditions,
  rollouts, alerts and events, each with its most likely cause. It is recorded while the cluster runs. --since takes a
  duration or an RFC 3339 time (default: 24h), --around shows the five minutes before and after a time.
  --markdown writes a post-mortem with a picture beside it.`;

const DEFAULT_SPAN_MS = 24 * 3_600_000;
const AROUND_MS = 5 * 60_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

const moment = (name: string, text: string, nowMs: number): number => {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined) return nowMs - durationMs;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs))
    throw usageError(`--${name} takes a duration such as 1h or an RFC 3339 time, not "${text}"`);
  return atMs;
};

const lanesOf = (text: string | undefined): readonly TimelineLane[] => {
  if (text === undefined) return TIMELINE_LANES;
  return text.split(',').map((name) => {
    const lane = TIMELINE_LANES.find((one) => one === name);
    if (!lane) throw usageError(`--lane takes ${TIMELINE_LANES.join(', ')}, not "${name}"`);
    return lane;
  });
};

const timeText = (atMs: number): string => new Date(atMs).toISOString();
const durationText = (ms: number): string =>
  ms < MINUTE_MS ? `${(ms / SECOND_MS).toFixed(1)} s` : `${Math.round(ms / MINUTE_MS)} min`;

const IMPAIRMENTS: Readonly<Record<Impairment, string>> = {
  noLeader: 'No etcd leader',
  apiErrors: 'API errors',
  etcdAlarm: 'etcd alarms',
  nodeNotReady: 'Nodes not ready',
  nodeCondition: 'Node conditions',
  rollout: 'Rollouts that failed',
  alert: 'Alerts',
};

const WORDS: ReportWords = {
  title: (cluster) => `Post-mortem: ${cluster}`,
  impact: 'Impact',
  noImpact: 'No impairment was recorded in this range.',
  impairment: (kind) => IMPAIRMENTS[kind],
  impactText: ({ count, total, longest }) =>
    count === 1 ? total : `${count} times, ${total} in total, ${longest} at the longest`,
  notOver: 'not over at the end of the range',
  unknown: 'What is not known',
  chains: 'Causes and effects',
  noChains: 'No entry in this range has a known cause.',
  timeline: 'Timeline',
  columns: ['Time', 'Lane', 'What happened', 'Duration', 'Most likely cause'],
  followUp: 'Follow-up',
  followUpText: '- [ ] Add what to change so that this does not happen again.',
  pictureLabel: 'Timeline of the cluster',
  more: (count) => `${count} more entries.`,
  effectsMore: (count) => `${count} more`,
  range: (from, to, count) => `From ${from} to ${to}: ${count} entries.`,
  damaged: (count) => `${count} lines of the log could not be read.`,
  laneName: (lane) => lane,
  say: inEnglish,
  timeText,
  durationText,
};

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

const rangeOf = (values: Readonly<Partial<Record<string, string>>>, nowMs: number): Range => {
  const { since, until, around } = values;
  if (around !== undefined) {
    const atMs = moment('around', around, nowMs);
    return { fromMs: atMs - AROUND_MS, toMs: atMs + AROUND_MS };
  }
  const toMs = until === undefined ? nowMs : moment('until', until, nowMs);
  const fromMs = since === undefined ? toMs - DEFAULT_SPAN_MS : moment('since', since, nowMs);
  if (fromMs >= toMs) throw usageError('--since must be before --until');
  return { fromMs, toMs };
};

const printLines = (
  entries: readonly TimelineEntry[],
  all: readonly TimelineEntry[],
  nowMs: number,
  context: CommandContext,
): void => {
  const byId = new Map(all.map((entry) => [entry.id, entry]));
  for (const entry of entries) {
    const { atMs, lane, severity, text, isOpen } = entry;
    const lastedMs = endOf(entry, nowMs) - atMs;
    const lasted = lastedMs > 0 ? `  ${isOpen ? 'for' : 'lasted'} ${durationText(lastedMs)}` : '';
    const [cause] = causesOf(entry, byId);
    const because = cause ? `  <- ${inEnglish(cause.text)}` : '';
    context.print(
      `${timeText(atMs)}  ${lane.padEnd(9)}  ${severity.padEnd(5)}  ${inEnglish(text)}${lasted}${because}`,
    );
  }
};

export const timeline: Command = {
  usage: USAGE,
  async run(args, context) {
    const options = {
      since: { type: 'string' },
      until: { type: 'string' },
      around: { type: 'string' },
      lane: { type: 'string' },
      markdown: { type: 'string' },
    } as const;
    const { values, dataDirectory, json } = parseOptions(options, args, context);
    const texts = values as Readonly<Partial<Record<string, string>>>;
    const nowMs = Date.now();
    const range = rangeOf(texts, nowMs);
    const lanes = lanesOf(texts['lane']);
    const { metadata } = await requireCluster(dataDirectory);
    const { entries, damagedLines } = await readTimeline(
      dataDirectory,
      (await stateOrNone(dataDirectory)) !== undefined,
    );
    const shown = within(entries, range).filter(({ lane }) => lanes.includes(lane));
    if (damagedLines > 0) context.note(`pilothouse: ${WORDS.damaged(damagedLines)}`);
    const { markdown } = texts;
    if (markdown !== undefined) {
      const file = resolve(context.cwd, markdown);
      const picture = `${file.replace(/\.md$/, '')}.svg`;
      const drawn = { ...range, laneName: WORDS.laneName, timeText };
      await writeFile(picture, timelinePicture(shown, drawn));
      const report = { cluster: metadata.name, ...range, damagedLines, picture: basename(picture) };
      await writeFile(file, postMortem(shown, { ...report, words: WORDS }));
      context.print(json ? JSON.stringify({ file, picture }) : `wrote ${file} and ${picture}`);
    } else if (json)
      context.print(JSON.stringify(shown.map((entry) => ({ ...entry, text: inEnglish(entry.text) }))));
    else if (shown.length === 0)
      context.note('pilothouse: nothing was recorded in this range; a running cluster records its timeline');
    else printLines(shown, entries, nowMs, context);
    return EXIT_OK;
  },
};

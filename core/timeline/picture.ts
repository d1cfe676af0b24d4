import { TIMELINE_LANES, type Severity, type TimelineEntry, type TimelineLane } from '../contract/index.ts';
import { endOf, within } from './story.ts';

const WIDTH = 1200;
const LABEL_WIDTH = 110;
const LANE_HEIGHT = 26;
const AXIS_HEIGHT = 24;
const MARK_WIDTH = 5;
const TICKS = 6;
/** More marks than this cannot be told apart on the width; the picture says how many there are. */
const MARKS_MAX = 2_000;

const COLOURS: Readonly<Record<Severity, string>> = {
  ok: '#2e7d4f',
  info: '#3b6ea8',
  warn: '#b7791f',
  error: '#c0392b',
};

export interface PictureOptions {
  readonly fromMs: number;
  readonly toMs: number;
  laneName(lane: TimelineLane): string;
  timeText(atMs: number): string;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The lanes that have something, as an image that needs nothing else. */
export const timelinePicture = (entries: readonly TimelineEntry[], options: PictureOptions): string => {
  const { fromMs, toMs, laneName, timeText } = options;
  const shown = within(entries, { fromMs, toMs }).slice(0, MARKS_MAX);
  const lanes = TIMELINE_LANES.filter((lane) => shown.some((entry) => entry.lane === lane));
  const height = lanes.length * LANE_HEIGHT + AXIS_HEIGHT;
  const x = (atMs: number): number =>
    LABEL_WIDTH +
    ((Math.min(toMs, Math.max(fromMs, atMs)) - fromMs) / Math.max(1, toMs - fromMs)) * (WIDTH - LABEL_WIDTH);
  const rows = lanes.map((lane, place) => {
    const y = place * LANE_HEIGHT;
    return [
      `<line x1="${LABEL_WIDTH}" x2="${WIDTH}" y1="${y + LANE_HEIGHT}" y2="${y + LANE_HEIGHT}" stroke="#d6d9de"/>`,
      `<text x="4" y="${y + 17}">${escape(laneName(lane))}</text>`,
    ].join('');
  });
  const marks = shown.map((entry) => {
    const y = lanes.indexOf(entry.lane) * LANE_HEIGHT + 5;
    const from = x(entry.atMs);
    const width = Math.max(MARK_WIDTH, x(endOf(entry, toMs)) - from);
    const place = Math.min(from, WIDTH - width).toFixed(1);
    return `<rect x="${place}" y="${y}" width="${width.toFixed(1)}" height="${LANE_HEIGHT - 10}" rx="2" fill="${COLOURS[entry.severity]}" fill-opacity="0.85"/>`;
  });
  const ticks = Array.from({ length: TICKS }, (_, index) => {
    const atMs = fromMs + ((toMs - fromMs) * index) / (TICKS - 1);
    const anchor = index === TICKS - 1 ? 'end' : index === 0 ? 'start' : 'middle';
    return `<text x="${x(atMs).toFixed(1)}" y="${height - 7}" text-anchor="${anchor}">${escape(timeText(atMs))}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12" fill="#30353c">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...rows,
    ...marks,
    ...ticks,
    '</svg>',
    '',
  ].join('\n');
};

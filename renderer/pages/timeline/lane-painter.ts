import type { TimelineEntry, TimelineLane } from '../../../core/contract/index.ts';
import { SEVERITIES, type LaneColumns } from './entry-table.ts';
import type { TimeRange } from './time-range.ts';

export const LANE_HEIGHT = 32;
export const AXIS_HEIGHT = 24;
/** What is narrower cannot be told apart, or hit. */
export const BIN_WIDTH = 4;
const MARK_PADDING = 6;
const SPAN_WIDTH_MIN = 8;
/** Of one entry alone; more make it higher. */
const HEIGHT_SHARE_MIN = 0.55;
const COUNT_FULL = 64;

export interface PaintColours {
  readonly severities: readonly [ok: string, info: string, warn: string, error: string];
  readonly line: string;
  readonly text: string;
  readonly related: string;
  readonly now: string;
}

export const readPaintColours = (element: Element): PaintColours => {
  const style = getComputedStyle(element);
  const of = (token: string): string => style.getPropertyValue(token).trim();
  return {
    severities: [of('--ok'), of('--info'), of('--warn'), of('--error')],
    line: of('--border-subtle'),
    text: of('--text-muted'),
    related: of('--text-strong'),
    now: of('--accent'),
  };
};

export interface Place {
  readonly width: number;
  readonly range: TimeRange;
  readonly nowMs: number;
}

export const xOfMs = ({ width, range }: Place, atMs: number): number =>
  ((atMs - range.fromMs) / (range.toMs - range.fromMs)) * width;

/** Counts and the worst severity of every few pixels of a lane, and the spans that are wide enough to be drawn. */
export interface LaneBins {
  readonly counts: Uint32Array;
  readonly worst: Uint8Array;
  /** Places in the columns. */
  readonly spans: readonly number[];
}

export const binLane = (columns: LaneColumns, place: Place): LaneBins => {
  const { width, range, nowMs } = place;
  const bins = Math.max(1, Math.ceil(width / BIN_WIDTH));
  const counts = new Uint32Array(bins);
  const worst = new Uint8Array(bins);
  const spans: number[] = [];
  const { atMs, endMs, severity } = columns;
  const { fromMs, toMs } = range;
  const perMs = bins / (toMs - fromMs);
  const spanMsMin = ((toMs - fromMs) * SPAN_WIDTH_MIN) / Math.max(1, width);
  for (let index = 0; index < atMs.length; index += 1) {
    const at = atMs[index]!;
    if (at > toMs) break;
    const end = Math.min(endMs[index]!, Math.max(at, nowMs));
    if (end < fromMs) continue;
    if (end - at >= spanMsMin) spans.push(index);
    const bin = Math.max(0, Math.min(bins - 1, Math.floor((at - fromMs) * perMs)));
    if (at < fromMs) continue;
    counts[bin] = counts[bin]! + 1;
    if (severity[index]! > worst[bin]!) worst[bin] = severity[index]!;
  }
  return { counts, worst, spans };
};

const heightOf = (count: number): number => {
  const share = Math.min(1, Math.log2(count) / Math.log2(COUNT_FULL));
  return (HEIGHT_SHARE_MIN + (1 - HEIGHT_SHARE_MIN) * share) * (LANE_HEIGHT - 2 * MARK_PADDING);
};

export const paintLane = (
  canvas: CanvasRenderingContext2D,
  columns: LaneColumns,
  { top, place, colours, isDim }: { top: number; place: Place; colours: PaintColours; isDim: boolean },
): void => {
  const { counts, worst, spans } = binLane(columns, place);
  const { width, nowMs } = place;
  canvas.globalAlpha = isDim ? 0.25 : 0.35;
  for (const index of spans) {
    const from = Math.max(0, xOfMs(place, columns.atMs[index]!));
    const to = Math.min(width, xOfMs(place, Math.min(columns.endMs[index]!, nowMs)));
    canvas.fillStyle = colours.severities[columns.severity[index]! as 0 | 1 | 2 | 3];
    canvas.fillRect(from, top + MARK_PADDING + 4, Math.max(1, to - from), LANE_HEIGHT - 2 * MARK_PADDING - 8);
  }
  canvas.globalAlpha = isDim ? 0.35 : 1;
  // One colour after the other: a change of the fill costs more than a rectangle.
  for (let rank = 0; rank < SEVERITIES.length; rank += 1) {
    canvas.fillStyle = colours.severities[rank as 0 | 1 | 2 | 3];
    for (let bin = 0; bin < counts.length; bin += 1) {
      if (counts[bin] === 0 || worst[bin] !== rank) continue;
      const height = heightOf(counts[bin]!);
      canvas.fillRect(bin * BIN_WIDTH, top + (LANE_HEIGHT - height) / 2, BIN_WIDTH - 1, height);
    }
  }
  canvas.globalAlpha = 1;
};

/** Lines from causes to effects, over everything else. */
export const paintRelations = (
  canvas: CanvasRenderingContext2D,
  related: readonly TimelineEntry[],
  {
    laneTop,
    place,
    colours,
    chosen,
  }: {
    laneTop(lane: TimelineLane): number | undefined;
    place: Place;
    colours: PaintColours;
    chosen: number | undefined;
  },
): void => {
  const points = new Map<number, { x: number; y: number }>();
  for (const entry of related) {
    const top = laneTop(entry.lane);
    if (top !== undefined) points.set(entry.id, { x: xOfMs(place, entry.atMs), y: top + LANE_HEIGHT / 2 });
  }
  canvas.strokeStyle = colours.related;
  canvas.lineWidth = 1;
  canvas.beginPath();
  for (const { id, cause } of related) {
    const to = points.get(id);
    const from = cause === null ? undefined : points.get(cause);
    if (!from || !to) continue;
    canvas.moveTo(from.x, from.y);
    canvas.bezierCurveTo(from.x, (from.y + to.y) / 2, to.x, (from.y + to.y) / 2, to.x, to.y);
  }
  canvas.stroke();
  for (const [id, { x, y }] of points) {
    canvas.beginPath();
    canvas.arc(x, y, id === chosen ? 6 : 4, 0, 2 * Math.PI);
    canvas.lineWidth = id === chosen ? 3 : 2;
    canvas.stroke();
  }
};

const HIT_PIXELS = 6;

/** The entry under a point of a lane: the nearest beginning, or else the shortest span that covers it. */
export const hitLane = (
  columns: LaneColumns,
  x: number,
  place: Place,
): { readonly entry: TimelineEntry; readonly near: number } | undefined => {
  const { range, width, nowMs } = place;
  const msPerPixel = (range.toMs - range.fromMs) / Math.max(1, width);
  const at = range.fromMs + x * msPerPixel;
  const reach = HIT_PIXELS * msPerPixel;
  let best = -1;
  let bestDistance = Infinity;
  let near = 0;
  let span = -1;
  let spanMs = Infinity;
  for (let index = 0; index < columns.atMs.length; index += 1) {
    const begin = columns.atMs[index]!;
    if (begin > at + reach) break;
    const distance = Math.abs(begin - at);
    if (distance <= reach) {
      near += 1;
      // Of two at one place the graver is meant.
      const isNearer =
        distance < bestDistance ||
        (distance === bestDistance && columns.severity[index]! > columns.severity[best]!);
      if (isNearer) [best, bestDistance] = [index, distance];
    }
    const end = Math.min(columns.endMs[index]!, nowMs);
    if (begin <= at && end >= at && end - begin < spanMs) [span, spanMs] = [index, end - begin];
  }
  const found = columns.entries[best === -1 ? span : best];
  return found && { entry: found, near };
};

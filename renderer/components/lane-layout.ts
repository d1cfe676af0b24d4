import { spanOf, xOf, type TimeScale } from './time-axis.ts';

export interface Lane {
  readonly id: string;
  readonly label: string;
  /** A lane of captions below the others, in small. */
  readonly isCaption?: boolean;
}

/**
 * `now` and `past`: who acts and who did. `track`: merely there. `series`: one of several, by colour. `idle`: gone, not
 * wrong. `missing`: no one where somebody should be. `caption`: words in a frame.
 */
export type LaneTone = 'now' | 'past' | 'track' | 'series' | 'idle' | 'missing' | 'caption';

export interface LaneBar {
  readonly id: string;
  readonly lane: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly tone: LaneTone;
  /** With tone `series`: 1 to 8, the colour. */
  readonly series?: number;
  /** Inside the bar, where it fits. */
  readonly text: string;
  /** Read out, and shown while the bar has the focus. Without it the bar is only a ground for others. */
  readonly label?: string;
}

/** A moment that concerns all lanes. */
export interface LaneMark {
  readonly id: string;
  readonly atMs: number;
  readonly text: string;
  readonly label: string;
}

export interface PlacedBar extends LaneBar {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
  readonly shownText: string;
}

export interface PlacedMark extends LaneMark {
  readonly x: number;
  /** Empty where there is no room for it. */
  readonly shownText: string;
  /** The mark that the words stand beside: this one, or the first of those that crowd it. */
  readonly textX: number;
  readonly anchor: 'start' | 'end';
}

export const LANE_HEIGHT = 36;
export const CAPTION_HEIGHT = 20;
const BAR_HEIGHT = 24;
const TRACK_HEIGHT = 4;
const CAPTION_BAR_HEIGHT = 18;
const TEXT_PADDING = 12;
/** What is short but matters stays visible: a mark of 6 px for what is wrong, a line for what is not. */
const WIDTH_MIN: Readonly<Record<LaneTone, number>> = {
  now: 3,
  past: 3,
  track: 0,
  series: 4,
  idle: 6,
  missing: 6,
  caption: 0,
};
/** Of an average character at 12 and 11 px; text is laid out before it can be measured. */
const CHARACTER_WIDTH = 6.4;
const MARK_CHARACTER_WIDTH = 5.9;
const MARK_ROOM = 16;

export const heightOf = (lanes: readonly Lane[]): number =>
  lanes.reduce((sum, lane) => sum + (lane.isCaption ? CAPTION_HEIGHT : LANE_HEIGHT), 0);

/** The text, a shorter one cut at the end, or nothing: never a single letter and dots. */
export const fitText = (text: string, width: number, characterWidth = CHARACTER_WIDTH): string => {
  const characters = Math.floor((width - TEXT_PADDING) / characterWidth);
  if (text.length <= characters) return text;
  return characters >= 5 ? `${text.slice(0, characters - 1)}…` : '';
};

const heights: Partial<Record<LaneTone, number>> = { track: TRACK_HEIGHT, caption: CAPTION_BAR_HEIGHT };

/** Bars where they are drawn, those behind others first. */
export const placeBars = (
  lanes: readonly Lane[],
  bars: readonly LaneBar[],
  scale: TimeScale,
): readonly PlacedBar[] => {
  const tops = new Map<string, { top: number; height: number }>();
  let top = 0;
  for (const lane of lanes) {
    const height = lane.isCaption ? CAPTION_HEIGHT : LANE_HEIGHT;
    tops.set(lane.id, { top, height });
    top += height;
  }
  const order: readonly LaneTone[] = ['track', 'caption', 'past', 'series', 'now', 'idle', 'missing'];
  return bars
    .flatMap((bar) => {
      const lane = tops.get(bar.lane);
      const span = lane && spanOf(scale, bar.fromMs, bar.toMs, WIDTH_MIN[bar.tone]);
      if (!lane || !span) return [];
      const height = Math.min(heights[bar.tone] ?? BAR_HEIGHT, lane.height - 2);
      const y = lane.top + (lane.height - height) / 2;
      return [{ ...bar, ...span, y, height, shownText: fitText(bar.text, span.width) }];
    })
    .sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
};

/**
 * Marks from the newest back: words at the right of a mark, else at the left of it and of those that crowd it, else
 * none. Where two want the same room the newer one has it.
 */
export const placeMarks = (marks: readonly LaneMark[], scale: TimeScale): readonly PlacedMark[] => {
  const shown = marks
    .filter(({ atMs }) => atMs >= scale.fromMs && atMs <= scale.toMs)
    .toSorted((a, b) => a.atMs - b.atMs)
    .map((mark) => ({ mark, x: xOf(scale, mark.atMs) }));
  const xAt = (index: number): number => shown[index]?.x ?? -Infinity;
  const crowdStart = (index: number): number =>
    xAt(index) - xAt(index - 1) < MARK_ROOM ? crowdStart(index - 1) : index;
  let limit = scale.width;
  return shown
    .map(({ mark, x }, index) => ({ mark, x, index }))
    .reverse()
    .map(({ mark, x, index }): PlacedMark => {
      const width = mark.text.length * MARK_CHARACTER_WIDTH + MARK_ROOM;
      if (x + width <= limit) {
        limit = x - MARK_ROOM / 2;
        return { ...mark, x, textX: x, shownText: mark.text, anchor: 'start' };
      }
      const start = crowdStart(index);
      const left = xAt(start);
      const isFree = left <= limit && left - width >= Math.max(0, xAt(start - 1) + MARK_ROOM / 2);
      limit = isFree ? left - width : Math.min(limit, x - MARK_ROOM / 2);
      return { ...mark, x, textX: left, shownText: isFree ? mark.text : '', anchor: 'end' };
    })
    .reverse();
};

/** Everything a reader can step to, in the order of time. */
export const stopsOf = (
  bars: readonly LaneBar[],
  marks: readonly LaneMark[],
): readonly { readonly id: string; readonly label: string }[] =>
  [
    ...bars.flatMap(({ id, fromMs, label }) => (label === undefined ? [] : [{ id, atMs: fromMs, label }])),
    ...marks.map(({ id, atMs, label }) => ({ id, atMs, label })),
  ]
    .sort((a, b) => a.atMs - b.atMs || a.id.localeCompare(b.id))
    .map(({ id, label }) => ({ id, label }));

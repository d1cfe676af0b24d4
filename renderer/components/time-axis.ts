/** A stretch of time on a line of pixels; time runs to the right. */
export interface TimeScale {
  readonly fromMs: number;
  readonly toMs: number;
  readonly width: number;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Distances between ticks that a reader can count in. */
const STEPS_MS = [
  ...[1, 5, 15, 30].map((count) => count * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 12].map((count) => count * HOUR_MS),
  ...[1, 2, 7, 14].map((count) => count * DAY_MS),
];

/** Where a moment stands, kept inside the line: what is outside stands at its edge. */
export const xOf = ({ fromMs, toMs, width }: TimeScale, atMs: number): number => {
  const share = toMs > fromMs ? (atMs - fromMs) / (toMs - fromMs) : 0;
  return Math.min(1, Math.max(0, share)) * width;
};

/**
 * A bar between two moments, or nothing where it lies outside. What is too short to see is widened to `widthMin` and
 * kept inside the line.
 */
export const spanOf = (
  scale: TimeScale,
  fromMs: number,
  toMs: number,
  widthMin = 0,
): { readonly x: number; readonly width: number } | undefined => {
  if (toMs < scale.fromMs || fromMs > scale.toMs || toMs < fromMs) return undefined;
  const start = xOf(scale, fromMs);
  const width = Math.max(widthMin, xOf(scale, toMs) - start);
  return { x: Math.max(0, Math.min(start, scale.width - width)), width };
};

/** The smallest readable distance that gives at most so many ticks. */
export const tickStepMs = (spanMs: number, ticksMax: number): number =>
  STEPS_MS.find((step) => spanMs / step <= ticksMax) ?? Math.ceil(spanMs / ticksMax / DAY_MS) * DAY_MS;

/**
 * Round moments of the reader's own clock within the scale. `zoneOffsetMs` is what that clock is ahead of UTC: without
 * it, six-hour ticks would fall on odd hours.
 */
export const timeTicks = (
  { fromMs, toMs }: Pick<TimeScale, 'fromMs' | 'toMs'>,
  ticksMax: number,
  zoneOffsetMs: number,
): readonly number[] => {
  const step = tickStepMs(toMs - fromMs, Math.max(1, ticksMax));
  const first = Math.ceil((fromMs + zoneOffsetMs) / step) * step - zoneOffsetMs;
  const ticks: number[] = [];
  for (let at = first; at <= toMs && ticks.length <= ticksMax; at += step) ticks.push(at);
  return ticks;
};

export const zoneOffsetMs = (atMs: number): number => -new Date(atMs).getTimezoneOffset() * MINUTE_MS;

/** The stretches a reader may look at, newest moment at the right. */
export const TIME_WINDOWS = {
  '5m': 5 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': DAY_MS,
} as const;
export type TimeWindow = keyof typeof TIME_WINDOWS;

export const isTimeWindow = (text: unknown): text is TimeWindow =>
  typeof text === 'string' && Object.hasOwn(TIME_WINDOWS, text);

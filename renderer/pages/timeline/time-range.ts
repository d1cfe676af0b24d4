export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const SPAN_MS_MIN = 1_000;
const SPAN_MS_MAX = 366 * 24 * 3_600_000;
/** Room after now, so that what happens now does not stand at the edge. */
const AHEAD_SHARE = 0.03;

const clampSpan = (spanMs: number): number => Math.min(SPAN_MS_MAX, Math.max(SPAN_MS_MIN, spanMs));

/** Zooms so that the moment under the pointer stays where it is. */
export const zoomAt = ({ fromMs, toMs }: TimeRange, atMs: number, factor: number): TimeRange => {
  const spanMs = clampSpan((toMs - fromMs) * factor);
  const share = (atMs - fromMs) / Math.max(1, toMs - fromMs);
  return { fromMs: atMs - spanMs * share, toMs: atMs + spanMs * (1 - share) };
};

export const moveBy = ({ fromMs, toMs }: TimeRange, ms: number): TimeRange => ({
  fromMs: fromMs + ms,
  toMs: toMs + ms,
});

export const around = (atMs: number, spanMs: number): TimeRange => ({
  fromMs: atMs - spanMs / 2,
  toMs: atMs + spanMs / 2,
});

/** The newest stretch, with a little room after now. */
export const newest = (nowMs: number, spanMs: number): TimeRange => ({
  fromMs: nowMs - spanMs * (1 - AHEAD_SHARE),
  toMs: nowMs + spanMs * AHEAD_SHARE,
});

/** Moves no further than needed to bring a moment into view. */
export const reveal = (range: TimeRange, atMs: number): TimeRange =>
  atMs < range.fromMs || atMs > range.toMs ? around(atMs, range.toMs - range.fromMs) : range;

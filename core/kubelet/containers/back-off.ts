/**
 * Upstream's back-off (client-go flowcontrol): doubles from `initialMs` to `maxMs` with every failure, and
 * resets when the last one is more than twice `maxMs` ago.
 */
export interface BackOffEntry {
  durationMs: number;
  updatedMs: number;
}

export interface BackOffBounds {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const CONTAINER_BACK_OFF: BackOffBounds = { initialMs: 10_000, maxMs: 300_000 };
export const IMAGE_BACK_OFF: BackOffBounds = { initialMs: 10_000, maxMs: 300_000 };
/** A pod whose sandbox or volumes could not be made is tried again in this rhythm. */
export const SYNC_BACK_OFF: BackOffBounds = { initialMs: 1_000, maxMs: 30_000 };

const isExpired = (entry: BackOffEntry, eventMs: number, bounds: BackOffBounds): boolean =>
  eventMs - entry.updatedMs > bounds.maxMs * 2;

/** How long from `nowMs` on an attempt that follows the failure at `eventMs` has to wait; 0 when it may continue. */
export const remainingBackOffMs = (
  entry: BackOffEntry | undefined,
  bounds: BackOffBounds,
  eventMs: number,
  nowMs: number,
): number =>
  entry === undefined || isExpired(entry, eventMs, bounds)
    ? 0
    : Math.max(0, eventMs + entry.durationMs - nowMs);

export const nextBackOff = (
  entry: BackOffEntry | undefined,
  bounds: BackOffBounds,
  eventMs: number,
  nowMs: number,
): BackOffEntry =>
  entry === undefined || isExpired(entry, eventMs, bounds)
    ? { durationMs: bounds.initialMs, updatedMs: nowMs }
    : { durationMs: Math.min(entry.durationMs * 2, bounds.maxMs), updatedMs: nowMs };

import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long the event loop is held before others get their turn. */
const SLICE_MS = 5;

/** Called between the parts of long work: undefined while there is time left, else what to wait for. */
export type Pace = () => Promise<unknown> | undefined;

/** By time and not by count: the first parts of a document are written by code that is not compiled yet. */
export const createPace = (nowMs: () => number = () => performance.now()): Pace => {
  let sinceMs = nowMs();
  return () => {
    if (nowMs() - sinceMs < SLICE_MS) return undefined;
    return nextTurn().then(() => (sinceMs = nowMs()));
  };
};

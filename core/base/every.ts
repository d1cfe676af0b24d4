import type { Clock } from './clock.ts';
import { toDisposable, type Disposable } from './disposable.ts';

/**
 * Runs `work` again and again with a pause between, never twice at the same time; a failure waits for the next time. A pause that is
 * a function is asked before each.
 */
export const every = (
  clock: Clock,
  pauseMs: number | (() => number),
  work: () => Promise<void>,
): Disposable => {
  let timer: Disposable | undefined;
  let stopped = false;
  const arm = (): void => {
    if (!stopped) timer = clock.after(typeof pauseMs === 'number' ? pauseMs : pauseMs(), run);
  };
  const run = (): void => void work().then(arm, arm);
  arm();
  return toDisposable(() => {
    stopped = true;
    timer?.dispose();
  });
};

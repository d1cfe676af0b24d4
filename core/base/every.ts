import type { Clock } from './clock.ts';
import { toDisposable, type Disposable } from './disposable.ts';

/** Runs `work` again and again with a pause between, never twice at once; a failure waits for the next time. */
export const every = (clock: Clock, pauseMs: number, work: () => Promise<void>): Disposable => {
  let timer: Disposable | undefined;
  let stopped = false;
  const arm = (): void => {
    if (!stopped) timer = clock.after(pauseMs, run);
  };
  const run = (): void => void work().then(arm, arm);
  arm();
  return toDisposable(() => {
    stopped = true;
    timer?.dispose();
  });
};

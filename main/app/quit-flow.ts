import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';

/** What is still open after this is left to the operating system. Longer than clusters are given to end in order. */
export const QUIT_TIME_LIMIT_MS = 15_000;

/** What must be closed before the process ends, last opened first. */
export interface QuitFlow {
  /** Adds a step. Steps run one after the other in reverse order, each even if another failed. */
  add(name: string, close: () => Promise<void> | void): void;
  /** Closes everything once; later calls get the same promise. Resolves at the latest after the time limit. */
  close(): Promise<void>;
  readonly started: boolean;
}

export const createQuitFlow = (clock: Clock, log: Log, timeLimitMs = QUIT_TIME_LIMIT_MS): QuitFlow => {
  const steps: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  let closing: Promise<void> | undefined;

  const closeAll = async (): Promise<void> => {
    for (const { name, close } of steps.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        log.write('error', 'failed to close a part', { name, error });
      }
    }
  };

  const closeInTime = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = clock.after(timeLimitMs, () => {
        log.write('error', 'closing timed out', { timeLimitMs });
        resolve();
      });
      void closeAll().then(() => {
        timer.dispose();
        resolve();
      });
    });

  return {
    add(name, close) {
      steps.push({ name, close });
    },
    close: () => (closing ??= closeInTime()),
    get started() {
      return closing !== undefined;
    },
  };
};

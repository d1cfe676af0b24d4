import { toDisposable, type Disposable } from '../../base/disposable.ts';

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** All who wait for a signal share one listener on it: a server's own may have thousands of watches behind it. */
const waitersOf = (signal: AbortSignal): Set<() => void> => {
  const known = waiting.get(signal);
  if (known) return known;
  const waiters = new Set<() => void>();
  waiting.set(signal, waiters);
  signal.addEventListener(
    'abort',
    () => {
      for (const run of [...waiters]) run();
      waiters.clear();
    },
    { once: true },
  );
  return waiters;
};

/** Calls `run` once when the signal fires, or immediately if it has. */
export const onAbort = (signal: AbortSignal, run: () => void): Disposable => {
  if (signal.aborted) {
    run();
    return toDisposable(() => undefined);
  }
  const waiters = waitersOf(signal);
  waiters.add(run);
  return toDisposable(() => waiters.delete(run));
};

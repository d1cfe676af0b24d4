const POLL_MS_MIN = 50;
const POLL_MS_MAX = 1_000;
/** For what hangs, not for what is slow: a machine may do much else at the same time. */
const LIMIT_MS = 240_000;

/** Twice as long as the asking took: who waits by a command of its own leaves the processor to who is waited for. */
const pauseAfter = (askedMs: number): number => Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, 2 * askedMs));

/** Asks until there is an answer that is neither undefined nor false; fails with what was waited for. */
export const until = async <T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> => {
  const deadlineMs = Date.now() + limitMs;
  let failure: unknown;
  for (;;) {
    const askedAtMs = performance.now();
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (Date.now() > deadlineMs) throw new Error(`waited in vain for ${what}`, { cause: failure });
    const pauseMs = pauseAfter(performance.now() - askedAtMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};

const POLL_MS = 50;
const LIMIT_MS = 60_000;

/** Asks until there is an answer that is neither undefined nor false; fails with what was waited for. */
export const until = async <T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> => {
  const deadlineMs = Date.now() + limitMs;
  let failure: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (Date.now() > deadlineMs) throw new Error(`waited in vain for ${what}`, { cause: failure });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

export const RETRY_DELAY_MIN_MS = 250;
export const RETRY_DELAY_MAX_MS = 8_000;

/**
 * Doubles from the minimum to the maximum; half of each delay is random, so that many consoles do not
 * knock on a restarted host in the same instant.
 */
export const retryDelayMs = (attempt: number, random: () => number): number => {
  const ceiling = Math.min(RETRY_DELAY_MAX_MS, RETRY_DELAY_MIN_MS * 2 ** Math.min(attempt, 16));
  return Math.round(ceiling / 2 + random() * (ceiling / 2));
};

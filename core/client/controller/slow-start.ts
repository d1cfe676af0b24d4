/** As upstream's controllers: one first, then twice as many each time. */
export const SLOW_START_INITIAL_BATCH = 1;

/**
 * Runs `count` requests in batches of 1, 2, 4, ...; a batch with a failure is the last, so that a quota that is full
 * is asked once and not a hundred times. Resolves with how many succeeded and the first failure.
 */
export const slowStart = async (
  count: number,
  run: (index: number) => Promise<void>,
  initialBatch = SLOW_START_INITIAL_BATCH,
): Promise<{ readonly succeeded: number; readonly error: unknown }> => {
  let started = 0;
  let succeeded = 0;
  for (let batch = Math.min(count, initialBatch); batch > 0; batch = Math.min(2 * batch, count - started)) {
    const first = started;
    started += batch;
    const results = await Promise.allSettled(
      Array.from({ length: batch }, async (_, offset) => run(first + offset)),
    );
    succeeded += results.filter(({ status }) => status === 'fulfilled').length;
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) return { succeeded, error: failed.reason };
  }
  return { succeeded, error: undefined };
};

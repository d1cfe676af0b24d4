import type { Clock } from '../../base/clock.ts';

export const ITEM_MS_MAX = 30_000;
const ITEMS_AT_ONCE = 4;

/** What the work answers, or `late` where it takes too long. */
export const withinLimit = async <R>(clock: Clock, work: Promise<R>, late: () => R): Promise<R> => {
  let stop: () => void = () => undefined;
  const tooLate = new Promise<R>((resolve) => {
    const timer = clock.after(ITEM_MS_MAX, () => resolve(late()));
    stop = () => timer.dispose();
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    stop();
  }
};

/** A few at a time; the answers are in the order of the items. */
export const runItems = async <I, R>(items: readonly I[], run: (item: I) => Promise<R>): Promise<R[]> => {
  const answers: R[] = [];
  const waiting = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) answers[next[0]] = await run(next[1]);
  };
  await Promise.all(Array.from({ length: ITEMS_AT_ONCE }, worker));
  return answers;
};

import { expect } from 'vitest';

const SAMPLES = 5;
const SAMPLE_EVERY_MS = 200;

/** A figure once it has stood still for a second. */
export const steady = async (read: () => Promise<number> | number): Promise<number> => {
  const samples: number[] = [];
  await expect
    .poll(
      async () => {
        samples.push(await read());
        const last = samples.slice(-SAMPLES);
        return last.length === SAMPLES && new Set(last).size === 1;
      },
      { interval: SAMPLE_EVERY_MS },
    )
    .toBe(true);
  return samples.at(-1)!;
};

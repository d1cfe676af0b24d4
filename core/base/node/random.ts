import { randomInt } from 'node:crypto';
import type { Random } from '../random.ts';

const RANGE = 2 ** 32;

/** Seeds nothing and cannot be replayed; fit for jitter, identifiers and election timeouts. */
export const systemRandom: Random = {
  next: () => randomInt(RANGE) / RANGE,
  below: (bound) => randomInt(bound),
};

import { parseQuantity } from '../../core/api/quantity/index.ts';
import { durationSeconds, isDuration } from './duration.ts';

/** The number that a cell begins with: `4 (3m ago)`, `12m`, `64Mi`, `5d3h` in seconds. */
export const amountOf = (text: string): number | undefined => {
  const [word = ''] = text.trim().split(/\s/);
  if (word === '') return undefined;
  // `12m` is twelve minutes in an age and twelve thousandths of a core elsewhere; an age alone has two units or d, h, s.
  if (isDuration(word) && !/^\d+m$/.test(word)) return durationSeconds(word);
  try {
    return parseQuantity(word.replace(/\/.*$/, '')).toNumber();
  } catch {
    return undefined;
  }
};

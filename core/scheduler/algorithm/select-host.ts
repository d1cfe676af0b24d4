import type { Random } from '../../base/random.ts';
import type { ScoreTable } from '../framework/score-table.ts';

/** The best node; among equals each is as likely, decided in one pass. */
export const selectHost = ({ slots, total }: ScoreTable, random: Random): number => {
  let best = -Infinity;
  let chosen = 0;
  let ties = 0;
  for (let at = 0; at < total.length; at += 1) {
    const score = total[at]!;
    if (score > best) {
      best = score;
      chosen = at;
      ties = 1;
    } else if (score === best) {
      ties += 1;
      if (random.below(ties) === 0) chosen = at;
    }
  }
  return slots[chosen]!;
};

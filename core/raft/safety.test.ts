import { expect, test } from 'vitest';
import { Chaos, type ChaosOptions } from './testing/chaos.ts';

/** Set by hand to search further; a seed that finds something becomes a named test. */
const SEEDS_PER_SHAPE = 16;
const STEPS = 2500;

const SHAPES: readonly (Omit<ChaosOptions, 'seed' | 'steps'> & { name: string })[] = [
  { name: 'three members', members: 3 },
  { name: 'five members', members: 5 },
  { name: 'three members that change', members: 3, changeMembers: true },
];

const runSeed = (options: ChaosOptions): Chaos => {
  const chaos = new Chaos(options);
  try {
    chaos.run();
    chaos.heal();
  } catch (error) {
    throw new Error(`seed ${options.seed} with ${JSON.stringify(options)}`, { cause: error });
  }
  return chaos;
};

for (const { name, ...shape } of SHAPES) {
  test(`${name} stay safe and become live under loss, reordering, crashes and slow disks (paper, figure 3)`, () => {
    let committed = 0;
    let terms = 0;
    let reads = 0;
    for (let seed = 1; seed <= SEEDS_PER_SHAPE; seed += 1) {
      const { invariants } = runSeed({ ...shape, seed, steps: STEPS });
      committed += invariants.history.length;
      terms += invariants.termsCount;
      reads += invariants.answeredReadsCount;
    }
    // A run in which nothing happens proves nothing.
    expect(committed).toBeGreaterThan(SEEDS_PER_SHAPE * 30);
    expect(terms).toBeGreaterThan(SEEDS_PER_SHAPE * 2);
    expect(reads).toBeGreaterThan(SEEDS_PER_SHAPE);
  });
}

test('the same seed makes the same run', () => {
  const run = (): unknown => {
    const { invariants } = runSeed({ members: 3, seed: 77, steps: STEPS });
    return {
      history: invariants.history,
      terms: invariants.termsCount,
      reads: invariants.answeredReadsCount,
    };
  };
  expect(run()).toEqual(run());
});

import { expect, test } from 'vitest';
import { keptPermissions, unlookedLine } from './mutants/access-mutants.ts';
import { runAccessSeed } from './run-access-seed.ts';

const SEEDS = 25;
const MUTANT_SEEDS_MAX = 100;

const runSeeds = async (about: 'auth' | 'locks') => {
  const total = { served: 0, denied: 0, revocations: 0, locks: 0 };
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violation, trace, counts } = await runAccessSeed({ seed, about });
    expect(violation, `seed ${seed}: ${violation?.message}\n\n${trace}`).toBeUndefined();
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
    await new Promise((resolve) => setImmediate(resolve));
  }
  return total;
};

test('no request is served with a permission whose revocation was acknowledged', async () => {
  const { served, denied, revocations } = await runSeeds('auth');
  // What no one did proves nothing.
  expect(Math.min(served, denied, revocations)).toBeGreaterThan(SEEDS);
});

test('a lock never has two holders', async () => {
  expect((await runSeeds('locks')).locks).toBeGreaterThan(SEEDS);
});

test.each([
  ['auth', keptPermissions.name, keptPermissions],
  ['locks', unlookedLine.name, unlookedLine],
] as const)('caught in %s: %s', async (about, _name, mutant) => {
  for (let seed = 1; seed <= MUTANT_SEEDS_MAX; seed += 1) {
    const { violation } = await runAccessSeed({ seed, about, mutant });
    await new Promise((resolve) => setImmediate(resolve));
    if (violation === undefined) continue;
    expect(mutant.foundBy, `seed ${seed}: ${violation.message}`).toContain(violation.check);
    return;
  }
  expect.fail(`${mutant.name} went through ${MUTANT_SEEDS_MAX} seeds unseen`);
});

import { expect, test } from 'vitest';
import { parseSimArguments } from './main.ts';
import { runSeed } from './run-seed.ts';
import { runSeeds } from './seeds.ts';

/** The other half is in sim-more.test.ts: two files run on two cores. */
const FROM = 1;
const COUNT = 260;

test(`members keep their promises under faults (seeds ${FROM} to ${FROM + COUNT - 1})`, async () => {
  expect(await runSeeds({ from: FROM, count: COUNT })).toBeGreaterThan(COUNT);
});

test('a seed replays event for event', async () => {
  const first = await runSeed({ seed: 7, isTraceEndless: true });
  const second = await runSeed({ seed: 7, isTraceEndless: true });
  expect(second).toEqual(first);
  expect(first.counts.events).toBeGreaterThan(1000);
});

test('different seeds are different worlds', async () => {
  const counts = await Promise.all([11, 12, 13].map(async (seed) => (await runSeed({ seed })).counts.events));
  expect(new Set(counts).size).toBe(3);
});

test('the command line says which seeds to run', () => {
  expect(parseSimArguments(['--seeds', '20000', '--from', '5'])).toEqual({
    seeds: 20_000,
    from: 5,
    isTraced: false,
    stopsAtFailure: false,
  });
  expect(parseSimArguments(['--from', '3', '--trace', '--stop'])).toEqual({
    seeds: 1,
    from: 3,
    isTraced: true,
    stopsAtFailure: true,
  });
  expect(() => parseSimArguments(['--seeds', 'many'])).toThrow('--seeds wants a number');
});

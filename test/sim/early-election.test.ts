import { expect, test } from 'vitest';
import { ELECTION_MS, World } from './world/world.ts';
import type { Machine } from './world/machine.ts';

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);

const leaderOf = (world: World): Machine | undefined => world.machines.find(({ member }) => member?.isLeader);

/** How long it takes until there is a leader. */
const electionMs = async (world: World): Promise<number> => {
  const { timeline } = world;
  const fromMs = timeline.nowMs;
  await timeline.run(fromMs + 20 * ELECTION_MS, () => leaderOf(world) !== undefined);
  expect(leaderOf(world)).toBeDefined();
  return timeline.nowMs - fromMs;
};

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** A cluster that has been led for a while. */
const led = async (seed: number, refusalRatio: number): Promise<World> => {
  const world = new World({ seed });
  world.network.refusalRatio = refusalRatio;
  world.found();
  await electionMs(world);
  await world.timeline.run(world.timeline.nowMs + 2 * ELECTION_MS, () => false);
  return world;
};

const successionMs = async (seed: number, refusalRatio: number): Promise<number> => {
  const world = await led(seed, refusalRatio);
  leaderOf(world)?.crash();
  return electionMs(world);
};

test('a leader whose port refuses is succeeded in a fraction of the election timeout', async () => {
  const tookMs = sorted(await Promise.all(SEEDS.map((seed) => successionMs(seed, 1))));
  expect(tookMs[SEEDS.length / 2]).toBeLessThan(ELECTION_MS / 4);
  expect(tookMs.at(-1)).toBeLessThan(ELECTION_MS);
});

test('a leader that is only silent is waited for', async () => {
  const tookMs = sorted(await Promise.all(SEEDS.map((seed) => successionMs(seed, 0))));
  expect(tookMs[0]).toBeGreaterThan(ELECTION_MS * 0.8);
});

test('members that start together have a leader in a fraction of the election timeout', async () => {
  const restartMs = async (seed: number): Promise<number> => {
    const world = await led(seed, 0);
    for (const machine of world.machines) machine.crash();
    for (const machine of world.machines) world.timeline.after(1, () => machine.start());
    return electionMs(world);
  };
  const tookMs = sorted(await Promise.all(SEEDS.map(restartMs)));
  expect(tookMs[SEEDS.length / 2]).toBeLessThan(ELECTION_MS / 4);
});

test('a member that comes back does not unseat the leader', async () => {
  for (const seed of SEEDS) {
    const world = await led(seed, 1);
    const leader = leaderOf(world)!;
    const term = leader.member?.raft.term;
    const other = world.machines.find((machine) => machine !== leader && machine.isUp)!;
    other.crash();
    await world.timeline.run(world.timeline.nowMs + ELECTION_MS, () => false);
    world.timeline.after(1, () => other.start());
    await world.timeline.run(world.timeline.nowMs + 5 * ELECTION_MS, () => false);
    expect([leader.member?.isLeader, other.member?.raft.term]).toEqual([true, term]);
  }
});

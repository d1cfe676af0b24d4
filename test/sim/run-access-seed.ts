import type { Mutant } from './mutants/mutant.ts';
import { AccessClient } from './workload/access-client.ts';
import { LockClient, LockTable } from './workload/lock-client.ts';
import { Nemesis } from './workload/nemesis.ts';
import type { Violation } from './world/trace.ts';
import { World } from './world/world.ts';

const TROUBLE_MS = 9000;
const QUIET_MS = 3000;
const LOCK_CLIENTS = 4;
/** The cheapest that bcrypt has: hashing is not what is tested. */
const FLAGS = ['--bcrypt-cost=4'];

export interface AccessReport {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly trace: string;
  readonly counts: {
    readonly served: number;
    readonly denied: number;
    readonly revocations: number;
    readonly locks: number;
  };
}

/**
 * One world of users whose permissions come and go, or of clients that fight for a lock, under the same faults as
 * `runSeed`. Apart from it, since auth closes a world to the clients there.
 */
export const runAccessSeed = async (options: {
  readonly seed: number;
  readonly about: 'auth' | 'locks';
  readonly mutant?: Mutant | undefined;
}): Promise<AccessReport> => {
  const world = new World({ ...options, flags: FLAGS });
  const { timeline, trace } = world;
  const access = new AccessClient(world);
  const table = new LockTable(world);
  const lockers = Array.from({ length: LOCK_CLIENTS }, (_, i) => new LockClient(world, table, `c${i}`));
  const nemesis = new Nemesis(world);
  world.found();
  const crash = (error: unknown): void =>
    trace.fail('simulation', error instanceof Error ? (error.stack ?? '') : '');
  for (const part of [...(options.about === 'auth' ? [access] : lockers), nemesis]) part.run().catch(crash);
  const run = (forMs: number): Promise<void> =>
    timeline.run(timeline.nowMs + forMs, () => trace.violation !== undefined);

  await run(TROUBLE_MS);
  nemesis.heal();
  await run(QUIET_MS);
  world.rest();
  world.isOver = true;
  return {
    seed: options.seed,
    violation: trace.violation,
    trace: trace.text,
    counts: {
      served: access.servedCount,
      denied: access.deniedCount,
      revocations: access.revocationCount,
      locks: table.takenCount,
    },
  };
};

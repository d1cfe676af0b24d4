import { History } from './checks/history.ts';
import type { Mutant } from './mutants/mutant.ts';
import { KEYS, KeyClient } from './workload/key-client.ts';
import { LEASES_GONE_MS, LeaseClient } from './workload/lease-client.ts';
import { Nemesis } from './workload/nemesis.ts';
import { Operator } from './workload/operator.ts';
import { CONTEXT, putRequest } from './workload/requests.ts';
import { WatchClient } from './workload/watch-client.ts';
import type { Machine } from './world/machine.ts';
import type { Violation } from './world/trace.ts';
import { World } from './world/world.ts';

const TROUBLE_MS_MIN = 2500;
const TROUBLE_MS_MAX = 9000;
/** After healing, a write must succeed within this time. */
const RECOVERY_MS = 6000;
/** And all members must agree within this time. */
const CONVERGENCE_MS = LEASES_GONE_MS + 2000;
/** The longest that a call, or a wait between two, can take. */
const REST_MS = 8000;
const KEY_CLIENTS = 3;
const LEASE_CLIENTS = 2;

export interface SeedReport {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly trace: string;
  readonly counts: {
    readonly members: number;
    readonly events: number;
    readonly simulatedMs: number;
    readonly revisions: number;
    readonly terms: number;
    readonly crashes: number;
    readonly answered: number;
    readonly lost: number;
    readonly renewals: number;
    readonly changes: number;
    readonly transfers: number;
  };
}

/** Runs one world from its founding to its end. The same seed gives the same report, event for event. */
export const runSeed = async (options: {
  readonly seed: number;
  readonly mutant?: Mutant | undefined;
  readonly isTraceEndless?: boolean;
}): Promise<SeedReport> => {
  const world = new World(options);
  const { timeline, trace, truth } = world;
  const history = new History();
  const keyClients = Array.from({ length: KEY_CLIENTS }, (_, i) => new KeyClient(world, history, `c${i}`));
  const leaseClients = Array.from({ length: LEASE_CLIENTS }, (_, i) => new LeaseClient(world, `l${i}`));
  const watchClients = [
    new WatchClient(world, 'all', { start: 'a', end: 'z' }),
    new WatchClient(world, 'some', { start: 'k1', end: 'k3' }),
    new WatchClient(world, 'one', { start: KEYS[0], end: `${KEYS[0]}\0` }),
  ];
  const operator = new Operator(world, world.pick([120, 400, 1500]));
  const nemesis = new Nemesis(world);
  world.found();
  const crash = (error: unknown): void =>
    trace.fail('simulation', error instanceof Error ? (error.stack ?? '') : '');
  for (const part of [...keyClients, ...leaseClients, ...watchClients, operator, nemesis])
    part.run().catch(crash);

  const run = (forMs: number, isOver: () => boolean = () => false): Promise<void> =>
    timeline.run(timeline.nowMs + forMs, () => trace.violation !== undefined || isOver());

  await run(world.between(TROUBLE_MS_MIN, TROUBLE_MS_MAX));
  trace.note('healed');
  nemesis.heal();
  const written = (): number => keyClients.reduce((sum, { writtenCount }) => sum + writtenCount, 0);
  const before = written();
  await run(RECOVERY_MS, () => written() > before + 2);
  if (written() <= before + 2)
    trace.fail('liveness', `no writes within ${RECOVERY_MS} ms after healing: ${stateOf(world)}`);

  // Clients fall silent, leases are let go, watchers stay where they are; then all must agree.
  world.rest();
  for (const client of watchClients) client.isSteady = true;
  await run(REST_MS, () => [...keyClients, ...leaseClients].every(({ isIdle }) => isIdle));
  const last = await writeLast(world, run);
  const isAgreed = (): boolean => disagreement(world, last) === undefined;
  const isSeen = (): boolean => watchClients.every((client) => client.hasSeen(truth, last));
  await run(CONVERGENCE_MS, () => isAgreed() && isSeen());
  if (!isAgreed()) trace.fail('liveness', `members do not agree: ${disagreement(world, last)}`);
  if (!isSeen()) trace.fail('watch', `watchers have not seen revision ${last}`);
  await checkHashes(world, run);
  if (trace.violation === undefined) {
    for (const client of watchClients) client.check(truth, last);
    history.check(truth, trace);
  }
  world.isOver = true;
  return {
    seed: options.seed,
    violation: trace.violation,
    trace: trace.text,
    counts: {
      members: world.memberCount,
      events: timeline.eventCount,
      simulatedMs: Math.round(timeline.nowMs),
      revisions: truth.lastRevision,
      terms: truth.termCount,
      crashes: world.machines.reduce((sum, { crashCount }) => sum + crashCount, 0),
      answered: history.answeredCount,
      lost: history.lostCount,
      renewals: leaseClients.reduce((sum, { keptCount }) => sum + keptCount, 0),
      changes: operator.changeCount,
      transfers: truth.transferCount,
    },
  };
};

type Run = (forMs: number, isOver?: () => boolean) => Promise<void>;

const running = (world: World): Machine[] => world.machines.filter(({ config }) => config !== undefined);

const stateOf = (world: World): string =>
  running(world)
    .map(({ name, member, isUp }) =>
      member === undefined
        ? `${name} ${isUp ? 'starting' : 'down'}`
        : `${name} ${member.leadership.role} term ${member.raft.term} applied ${member.machine.appliedIndex}`,
    )
    .join('; ');

/** One last write to every range that is watched; its revision is where all must arrive. */
const writeLast = async (world: World, run: Run): Promise<number> => {
  let revision = 0;
  if (world.trace.violation !== undefined) return revision;
  for (const key of [KEYS[0], 'k2']) {
    let made = 0;
    for (let tries = 0; tries < 20 && made === 0; tries += 1) {
      let isBack = false;
      const machine = world.pick(running(world));
      const request = putRequest(key, `last.${key}.${tries}`);
      void world
        .call(machine, 3000, (api) => api.put(request, CONTEXT))
        .then((result) => {
          isBack = true;
          if (result.kind === 'ok') made = result.value.header?.revision ?? 0;
        });
      await run(3100, () => isBack);
    }
    if (made === 0) world.trace.fail('liveness', `the last write does not succeed: ${stateOf(world)}`);
    revision = Math.max(revision, made);
  }
  return revision;
};

const disagreement = (world: World, revision: number): string | undefined => {
  const members = running(world);
  const isSame = members.every(({ member }) => {
    if (member === undefined || member.machine.store.revision < revision) return false;
    return (
      member.machine.appliedIndex === members[0]?.member?.machine.appliedIndex &&
      member.machine.lessor.leaseCount === 0
    );
  });
  if (isSame) return undefined;
  const leases = members.map(({ member }) => member?.machine.lessor.leaseCount).join(' ');
  return `${stateOf(world)}; leases ${leases}`;
};

/** The state itself, not only what was seen of it: HashKV of every member. */
const checkHashes = async (world: World, run: Run): Promise<void> => {
  if (world.trace.violation !== undefined) return;
  const hashes: string[] = [];
  const members = running(world);
  for (const { name, member } of members)
    member?.machine.store.hashKv(0).then(
      ({ hash, revision, compactRevision }) =>
        hashes.push(`${hash} at ${revision} compacted ${compactRevision}`),
      (error: unknown) => world.trace.fail('hash', `${name}: ${String(error)}`),
    );
  await run(2000, () => hashes.length === members.length);
  if (hashes.length !== members.length) world.trace.fail('hash', 'not every member answers');
  else if (new Set(hashes).size !== 1) world.trace.fail('hash', hashes.join('; '));
};

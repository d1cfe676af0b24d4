import { FAIR_WEATHER } from '../world/network.ts';
import type { Machine } from '../world/machine.ts';
import { ELECTION_MS, type World } from '../world/world.ts';
import type { TearMode } from '../../support/sim-disk.ts';

const WALL_JUMP_MS_MAX = 3_600_000;
const CRASH_STEPS_MAX = 40;
const VOTER_DOWN_MS_MAX = 6;
const SPLIT_AFTER_MS = 10;
const CANDIDATES = 2;
const SPREAD_MS = 30;

type Fault =
  | 'crash'
  | 'crashAtStep'
  | 'crashTwo'
  | 'partition'
  | 'oneWay'
  | 'pause'
  | 'wallJump'
  | 'diskError'
  | 'weather'
  | 'splitVote';

const FAULTS: readonly Fault[] = [
  'crash',
  'crashAtStep',
  'crashTwo',
  'partition',
  'oneWay',
  'pause',
  'wallJump',
  'diskError',
  'weather',
  'splitVote',
];

/** Breaks things. Each seed has faults of its own choice and pace: a few at a time find more than all at the same time. */
export class Nemesis {
  readonly #world: World;
  readonly #faults: readonly Fault[];
  readonly #pauseMs: number;
  readonly #downMsMax: number;
  isStopping = false;

  constructor(world: World) {
    this.#world = world;
    const kept = FAULTS.filter(() => world.chance(0.5));
    this.#faults = kept.length > 0 ? kept : [world.pick(FAULTS)];
    this.#pauseMs = world.between(80, 900);
    this.#downMsMax = world.pick([30, 300, 2000]);
    world.answerLossRatio = world.chance(0.3) ? 0.05 : 0;
    if (world.chance(0.5)) this.#weather();
  }

  async run(): Promise<void> {
    const world = this.#world;
    await world.timeline.sleep(world.between(0, 2 * ELECTION_MS));
    while (!world.isDone && !this.isStopping) {
      this.#strike(world.pick(this.#faults));
      await world.timeline.sleep(world.between(0, 2 * this.#pauseMs));
    }
  }

  /** Everything works again from now on. */
  heal(): void {
    const world = this.#world;
    this.isStopping = true;
    world.network.mend();
    world.network.weather = { ...FAIR_WEATHER };
    world.answerLossRatio = 0;
    for (const machine of world.machines) {
      machine.process?.thaw();
      machine.disarm();
      machine.start();
    }
  }

  #strike(fault: Fault): void {
    const world = this.#world;
    const up = world.machines.filter(({ isUp }) => isUp);
    if (up.length === 0) return;
    const machine = world.pick(up);
    switch (fault) {
      case 'crash':
        this.#crash(machine);
        return;
      case 'crashTwo':
        this.#crash(machine);
        this.#crash(world.pick(up));
        return;
      case 'crashAtStep':
        machine.crashAfterSteps(1 + world.random.below(CRASH_STEPS_MAX), this.#tearMode());
        this.#restartLater(machine);
        return;
      case 'splitVote':
        this.#splitVote();
        return;
      case 'partition':
        this.#partition({ isOneWay: false });
        return;
      case 'oneWay':
        this.#partition({ isOneWay: true });
        return;
      case 'pause':
        this.#pause(machine);
        return;
      case 'wallJump':
        machine.clockFault.wallOffsetMs += world.between(-WALL_JUMP_MS_MAX, WALL_JUMP_MS_MAX);
        return;
      case 'diskError':
        machine.failNextSync();
        return;
      case 'weather':
        this.#weather();
        return;
    }
  }

  /**
   * The leader chooses two successors at the same time, dies and comes back; anyone who gives its vote away crashes and is back
   * before the other candidate's request arrives.
   */
  #splitVote(): void {
    const world = this.#world;
    const leader = world.machines.find(({ member }) => member?.isLeader);
    if (leader === undefined) return;
    const { refusalRatio } = world.network;
    // With its whole machine: a process that ends alone is noticed, and the others stand one after the other.
    world.network.refusalRatio = 0;
    leader.crash();
    world.network.refusalRatio = refusalRatio;
    world.timeline.after(world.between(0, VOTER_DOWN_MS_MAX), () => leader.start());
    world.timeline.after(SPLIT_AFTER_MS, () => {
      if (this.isStopping) return;
      this.#spreadArrivals();
      const up = world.machines.filter(({ member, process }) => member !== undefined && !process?.isFrozen);
      for (const machine of up) {
        machine.crashAfterVote();
        this.#restartLater(machine, VOTER_DOWN_MS_MAX);
      }
      const others = up.filter((machine) => machine !== leader);
      const first = world.random.below(others.length + 1);
      for (const machine of [...others, ...others].slice(first, first + CANDIDATES)) machine.standNow();
    });
  }

  /** For the length of an election: requests that leave together arrive apart. */
  #spreadArrivals(): void {
    const { network, timeline } = this.#world;
    const before = network.weather;
    const spread = { ...before, delayMsMin: 0.1, delayMsMax: SPREAD_MS, lossRatio: 0 };
    network.weather = spread;
    timeline.after(ELECTION_MS / 2, () => {
      if (network.weather === spread) network.weather = before;
    });
  }

  #tearMode(): TearMode | undefined {
    return this.#world.chance(0.3) ? 'whole' : this.#world.chance(0.3) ? 'lost' : undefined;
  }

  #crash(machine: Machine): void {
    machine.crash(this.#tearMode());
    this.#restartLater(machine);
  }

  /** Looks again and again: the crash itself may still be to come. */
  #restartLater(machine: Machine, downMsMax = this.#downMsMax): void {
    const world = this.#world;
    world.timeline.after(world.between(0, downMsMax), () => {
      machine.start();
      if (!this.isStopping && machine.isArmed) this.#restartLater(machine, downMsMax);
    });
  }

  #pause(machine: Machine): void {
    const world = this.#world;
    const { process } = machine;
    if (process === undefined || process.isFrozen) return;
    world.trace.note(`${machine.name} is paused`);
    process.freeze();
    const forMs = world.pick([50, ELECTION_MS * 2, 2500]) * world.random.next();
    world.timeline.after(forMs, () => {
      world.trace.note(`${machine.name} goes on`);
      process.thaw();
    });
  }

  #partition({ isOneWay }: { readonly isOneWay: boolean }): void {
    const world = this.#world;
    const { network, machines } = world;
    const side = machines.filter(() => world.chance(0.4));
    world.trace.note(`cut ${isOneWay ? 'one way ' : ''}${side.map(({ name }) => name).join(' ')}`);
    for (const a of side)
      for (const b of machines) {
        if (side.includes(b)) continue;
        network.cut(a.name, b.name);
        if (!isOneWay) network.cut(b.name, a.name);
      }
    world.timeline.after(world.between(0, 3000), () => {
      world.trace.note('mended');
      network.mend();
    });
  }

  #weather(): void {
    const world = this.#world;
    world.network.weather = {
      delayMsMin: 0.1,
      delayMsMax: world.pick([1, 5, 40]),
      lossRatio: world.pick([0, 0.01, 0.1]),
      duplicateRatio: world.pick([0, 0.05]),
      detourRatio: world.pick([0, 0.02, 0.1]),
      detourMsMax: world.pick([20, 300]),
    };
  }
}

import type { Clock } from '../../base/clock.ts';
import { allocateSeats, type AllocationItem } from './allocation.ts';
import type { PriorityLevel } from './configuration.ts';
import { QueueSet } from './queue-set.ts';

/** One level with its queues, and the seats that it has now. */
export interface LevelState {
  readonly config: PriorityLevel;
  readonly queues: QueueSet;
  /** By its shares alone; between `minSeats` and `maxSeats` it lends and borrows. */
  readonly nominalSeats: number;
  readonly minSeats: number;
  readonly maxSeats: number;
  readonly currentSeats: number;
}

const limitsOf = ({ isExempt, queuing }: PriorityLevel, seats: number) => ({
  queuing: isExempt ? undefined : queuing,
  seats: isExempt ? Infinity : seats,
});

/** All levels share the seats of the server; what one does not use is lent to others for a while. Pure. */
export class Levels {
  readonly #clock: Clock;
  readonly #serverSeats: number;
  readonly #states = new Map<string, LevelState>();
  fairFraction = 0;

  constructor(clock: Clock, serverSeats: number) {
    this.#clock = clock;
    this.#serverSeats = serverSeats;
  }

  get(name: string): LevelState | undefined {
    return this.#states.get(name);
  }

  all(): readonly LevelState[] {
    return [...this.#states.values()];
  }

  /** Requests of a level that is gone finish in its queues; new ones find another. */
  configure(configs: readonly PriorityLevel[]): void {
    const shares = configs.reduce((total, { shares: own }) => total + own, 0);
    const named = new Map(configs.map((config) => [config.name, config]));
    for (const name of this.#states.keys()) if (!named.has(name)) this.#states.delete(name);
    for (const config of configs) {
      const nominalSeats = shares === 0 ? 0 : Math.ceil((this.#serverSeats * config.shares) / shares);
      const lendable = Math.round((nominalSeats * config.lendablePercent) / 100);
      const maxSeats =
        config.borrowingLimitPercent === undefined
          ? this.#serverSeats + nominalSeats
          : nominalSeats + Math.round((nominalSeats * config.borrowingLimitPercent) / 100);
      const before = this.#states.get(config.name);
      const queues = before?.queues ?? new QueueSet(this.#clock, limitsOf(config, nominalSeats));
      const minSeats = nominalSeats - lendable;
      this.#states.set(config.name, {
        config,
        queues,
        nominalSeats,
        minSeats,
        maxSeats,
        currentSeats: before?.currentSeats ?? nominalSeats,
      });
    }
    this.lend(false);
  }

  /** Shares seats out again by what each level asked for since the last time. */
  lend(isPeriodOver = true): void {
    const nowMs = this.#clock.monotonicMs();
    const states = this.all();
    if (isPeriodOver) for (const { queues } of states) queues.demand.endPeriod(nowMs);
    const lowest = ({ minSeats, nominalSeats, queues, config }: LevelState): number =>
      config.isExempt
        ? Math.max(minSeats, queues.demand.highWatermark)
        : Math.max(minSeats, Math.min(nominalSeats, queues.demand.highWatermark));
    const limited = states.filter(({ config }) => !config.isExempt);
    const nominalSum = states.reduce((total, { nominalSeats }) => total + nominalSeats, 0);
    const exemptSeats = states
      .filter(({ config }) => config.isExempt)
      .reduce((total, state) => total + lowest(state), 0);
    const remaining = nominalSum - exemptSeats;
    const minSum = limited.reduce((total, { minSeats }) => total + minSeats, 0);
    const lowSum = limited.reduce((total, state) => total + lowest(state), 0);
    const items = limited.map((state): AllocationItem => ({
      lowerBound: lowest(state),
      upperBound: Math.max(state.maxSeats, lowest(state)),
      target: Math.max(lowest(state), state.queues.demand.smoothed),
    }));
    const allocation = remaining > lowSum ? allocateSeats(remaining, items) : undefined;
    const share = lowSum > minSum ? Math.max(0, (remaining - minSum) / (lowSum - minSum)) : 0;
    this.fairFraction = allocation?.fairFraction ?? 0;
    limited.forEach((state, at) => {
      const seats =
        allocation?.seats[at] ??
        (remaining > lowSum
          ? state.currentSeats
          : state.minSeats + (lowest(state) - state.minSeats) * Math.min(1, share));
      this.#assign(state, Math.max(1, Math.round(seats)));
    });
    for (const state of states) if (state.config.isExempt) this.#assign(state, lowest(state));
  }

  #assign(state: LevelState, currentSeats: number): void {
    this.#states.set(state.config.name, { ...state, currentSeats });
    state.queues.configure(limitsOf(state.config, currentSeats));
  }
}

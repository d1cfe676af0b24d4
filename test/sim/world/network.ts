import type { Random } from '../../../core/base/random.ts';
import type { Message } from '../../../core/raft/messages.ts';
import type { MemberId } from '../../../core/raft/types.ts';
import type { SimTransport } from './transport.ts';
import type { Process } from './process.ts';
import type { Timeline } from './timeline.ts';

/** How messages between members fare. Changed while the simulation runs. */
export interface NetworkWeather {
  delayMsMin: number;
  delayMsMax: number;
  lossRatio: number;
  duplicateRatio: number;
  /** Messages that take a long way round: they come after others that were sent later. */
  detourRatio: number;
  detourMsMax: number;
}

export const FAIR_WEATHER: NetworkWeather = {
  delayMsMin: 0.2,
  delayMsMax: 2,
  lossRatio: 0,
  duplicateRatio: 0,
  detourRatio: 0,
  detourMsMax: 0,
};

/** Told of every message that leaves, before anything happens to it. */
export type MessageObserver = (message: Message) => void;

/**
 * A forwarded proposal is not numbered, so the transport must not double it, and a connection never does. All else
 * Raft takes twice.
 */
const mayDouble = (message: Message): boolean => message.kind !== 'propose';
const PROPOSALS_DOUBLED_RATIO = 0.3;
const REFUSAL_MS_MAX = 25;

const machineOf = (url: string): string => /^https?:\/\/([a-z0-9]+)/.exec(url)?.[1] ?? '';

/** Wires between machines. A machine answers at every address that begins with its name. */
export class SimNetwork {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly onSend: MessageObserver;
  weather: NetworkWeather = { ...FAIR_WEATHER };
  readonly #transports = new Map<string, SimTransport>();
  /** `from>to` */
  readonly #cuts = new Set<string>();
  readonly #proposalsDoubledRatio: number;
  /** How many peers of a process that ended find out by being refused; the others only hear nothing more. */
  refusalRatio = 0;
  #lastHealMs = 0;

  constructor(options: {
    readonly timeline: Timeline;
    readonly random: Random;
    readonly onSend: MessageObserver;
    readonly doublesProposals: boolean;
  }) {
    this.timeline = options.timeline;
    this.random = options.random;
    this.onSend = options.onSend;
    this.#proposalsDoubledRatio = options.doublesProposals ? PROPOSALS_DOUBLED_RATIO : 0;
  }

  attach(machine: string, transport: SimTransport): void {
    this.#transports.set(machine, transport);
  }

  detach(machine: string): void {
    const ended = this.#transports.get(machine);
    this.#transports.delete(machine);
    if (ended === undefined || this.refusalRatio === 0) return;
    for (const other of this.#transports.values()) this.#refuse(ended, other);
  }

  /** A process that ends hangs up on the others, and who dials it again is refused. No one learns of it through a cut. */
  #refuse(ended: SimTransport, other: SimTransport): void {
    if (this.#isCutBetween(ended, other) || this.random.next() >= this.refusalRatio) return;
    const arrive = (): void => {
      if (!this.#transports.has(ended.machine) && !this.#isCutBetween(ended, other))
        other.refusedBy(ended.id);
    };
    this.timeline.after(this.random.next() * REFUSAL_MS_MAX, arrive, other.process);
  }

  #isCutBetween(a: SimTransport, b: SimTransport): boolean {
    return this.isCut(a.machine, b.machine) || this.isCut(b.machine, a.machine);
  }

  at(url: string): SimTransport | undefined {
    return this.#transports.get(machineOf(url));
  }

  byId(id: MemberId): SimTransport | undefined {
    return [...this.#transports.values()].find((transport) => transport.id === id);
  }

  cut(from: string, to: string): void {
    this.#cuts.add(`${from}>${to}`);
  }

  mend(): void {
    this.#cuts.clear();
    this.#lastHealMs = this.timeline.nowMs;
  }

  isCut(from: string, to: string): boolean {
    return this.#cuts.size > 0 && this.#cuts.has(`${from}>${to}`);
  }

  get lastHealMs(): number {
    return this.#lastHealMs;
  }

  /** Carries something from machine to machine, or loses it. */
  carry(from: string, to: string, arrive: () => void, owner: Process | undefined): boolean {
    const { weather, random } = this;
    if (this.isCut(from, to) || (weather.lossRatio > 0 && random.next() < weather.lossRatio)) return false;
    this.timeline.after(this.#delayMs(), arrive, owner);
    return true;
  }

  /**
   * As `carry`, and perhaps twice. A message reaches anyone who runs on the machine when it arrives: senders keep what
   * they could not send yet, and so may speak to a process that asked nothing.
   */
  carryMessage(message: Message, from: string, to: string): boolean {
    const arrive = (): void => {
      const end = this.#transports.get(to);
      if (end?.process.isFrozen) end.process.keep(() => end.receive(message));
      else end?.receive(message);
    };
    const isOnItsWay = this.carry(from, to, arrive, undefined);
    const doubleRatio = mayDouble(message) ? this.weather.duplicateRatio : this.#proposalsDoubledRatio;
    if (doubleRatio > 0 && this.random.next() < doubleRatio) this.carry(from, to, arrive, undefined);
    return isOnItsWay;
  }

  #delayMs(): number {
    const { delayMsMin, delayMsMax, detourRatio, detourMsMax } = this.weather;
    const delayMs = delayMsMin + this.random.next() * (delayMsMax - delayMsMin);
    return this.random.next() < detourRatio ? delayMs + this.random.next() * detourMsMax : delayMs;
  }
}

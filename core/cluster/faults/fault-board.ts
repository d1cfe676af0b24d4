import { ReasonError } from '../../base/errors.ts';
import { LOAD_BALANCER_END } from '../../contract/schemas/fault.ts';
import type { HostPlan } from '../config/hosts.ts';
import { NO_FAULTS, type HostFaults } from '../host/messages.ts';
import type { Fault, FaultRequest } from './fault.ts';
import type { LinkRule } from './link-gate.ts';

/** The load balancer by the name that links know it by. */
export const LOAD_BALANCER = LOAD_BALANCER_END;

const FAULTS_MAX = 64;
const DELAY_MS_MAX = 60_000;
const CLOCK_OFFSET_MS_MAX = 10 * 365 * 86_400_000;

/** One end of a link: its name and every address that connections of it have. */
export interface LinkEnd {
  readonly name: string;
  readonly addresses: readonly string[];
}

export interface FaultBoardOptions {
  ends(): readonly LinkEnd[];
  /** Tells one end what is broken there now. */
  tell(end: string, faults: HostFaults): void;
  onChange(): void;
}

export const linkEndOf = ({ name, address, nodes }: HostPlan): LinkEnd => ({
  name,
  addresses: [...new Set([address, ...nodes.map((node) => node.address)])],
});

export const describeFault = (fault: FaultRequest): string => {
  switch (fault.kind) {
    case 'cut':
      return fault.isOneWay
        ? `${fault.from} cannot reach ${fault.to}`
        : `${fault.from} and ${fault.to} cannot reach each other`;
    case 'delay':
      return fault.isOneWay
        ? `traffic from ${fault.from} to ${fault.to} is delayed by ${fault.delayMs} ms`
        : `traffic between ${fault.from} and ${fault.to} is delayed by ${fault.delayMs} ms each way`;
    case 'slow-disk':
      return `WAL fsync on ${fault.host} is delayed by ${fault.delayMs} ms`;
    case 'clock':
      return `the clock of ${fault.host} is ${Math.abs(fault.offsetMs)} ms ${fault.offsetMs < 0 ? 'behind' : 'ahead'}`;
  }
};

const namesOf = (fault: FaultRequest): readonly string[] =>
  'host' in fault ? [fault.host] : [fault.from, fault.to];

const linkRule = (fault: Fault, receiver: string, ends: readonly LinkEnd[]): LinkRule | undefined => {
  if (fault.kind !== 'cut' && fault.kind !== 'delay') return undefined;
  const sender =
    fault.to === receiver ? fault.from : fault.from === receiver && !fault.isOneWay ? fault.to : undefined;
  const end = ends.find(({ name }) => name === sender);
  return end && { addresses: end.addresses, delayMs: fault.kind === 'cut' ? null : fault.delayMs };
};

/** What one end has to be told. A cut goes before a delay of the same link. */
export const faultsOf = (name: string, faults: readonly Fault[], ends: readonly LinkEnd[]): HostFaults => {
  const links = faults.flatMap((fault) => linkRule(fault, name, ends) ?? []);
  const own = faults.filter((fault) => 'host' in fault && fault.host === name);
  return {
    links: [...links].sort((a, b) => Number(a.delayMs === null) - Number(b.delayMs === null)),
    syncDelayMs: own.reduce((sum, fault) => sum + (fault.kind === 'slow-disk' ? fault.delayMs : 0), 0),
    clockOffsetMs: own.reduce((sum, fault) => sum + (fault.kind === 'clock' ? fault.offsetMs : 0), 0),
  };
};

/** What is broken intentionally in a running cluster. A fault goes with the process of any host that it names. */
export class FaultBoard {
  readonly #options: FaultBoardOptions;
  readonly #faults = new Map<string, Fault>();
  #lastId = 0;

  constructor(options: FaultBoardOptions) {
    this.#options = options;
  }

  list(): readonly Fault[] {
    return [...this.#faults.values()];
  }

  add(request: FaultRequest): Fault {
    this.#assertPossible(request);
    const known = this.#sameCut(request);
    if (known) return known;
    const id = `f${(this.#lastId += 1)}`;
    const fault: Fault = { ...request, id, text: describeFault(request) };
    this.#faults.set(id, fault);
    this.#tellAll();
    return fault;
  }

  /** Cuts one end off from all others. */
  isolate(name: string): readonly Fault[] {
    const others = this.#options.ends().filter((end) => end.name !== name);
    return others.map((end) => this.add({ kind: 'cut', from: name, to: end.name, isOneWay: false }));
  }

  /** `all`, or one by its id. Returns those that are healed. */
  heal(id: string): readonly Fault[] {
    const healed = id === 'all' ? this.list() : this.list().filter((fault) => fault.id === id);
    if (healed.length === 0 && id !== 'all')
      throw new ReasonError(
        'NotFound',
        `fault "${id}" not found; list active faults with pilothouse fault list`,
      );
    for (const fault of healed) this.#faults.delete(fault.id);
    this.#tellAll();
    return healed;
  }

  /** The process of this host has ended, and with it what was broken in it. */
  forget(host: string): void {
    const gone = this.list().filter((fault) => namesOf(fault).includes(host));
    if (gone.length === 0) return;
    for (const { id } of gone) this.#faults.delete(id);
    this.#tellAll();
  }

  /** A link cannot be cut twice; delays and offsets add up. */
  #sameCut(request: FaultRequest): Fault | undefined {
    if (request.kind !== 'cut') return undefined;
    const { from, to, isOneWay } = request;
    return this.list().find(
      (one) => one.kind === 'cut' && one.from === from && one.to === to && one.isOneWay === isOneWay,
    );
  }

  #tellAll(): void {
    const ends = this.#options.ends();
    const faults = this.list();
    for (const { name } of ends)
      this.#options.tell(name, faults.length === 0 ? NO_FAULTS : faultsOf(name, faults, ends));
    this.#options.onChange();
  }

  #assertPossible(request: FaultRequest): void {
    const known = this.#options.ends().map(({ name }) => name);
    const bad = (message: string): never => {
      throw new ReasonError('BadRequest', message);
    };
    if (this.#faults.size >= FAULTS_MAX) bad(`limit of ${FAULTS_MAX} faults reached; heal some first`);
    for (const name of namesOf(request)) {
      if (!known.includes(name))
        throw new ReasonError('NotFound', `host "${name}" not found; known hosts: ${known.join(', ')}`);
      if ('host' in request && name === LOAD_BALANCER)
        bad('load-balancer does not support disk or clock faults');
    }
    if (!['cut', 'delay', 'slow-disk', 'clock'].includes(request.kind)) bad('unknown kind of fault');
    if ('from' in request && request.from === request.to) bad('a link requires two different hosts');
    if ('delayMs' in request && !(request.delayMs > 0 && request.delayMs <= DELAY_MS_MAX))
      bad(`the delay must be from 1 to ${DELAY_MS_MAX} ms`);
    if (
      request.kind === 'clock' &&
      !(request.offsetMs !== 0 && Math.abs(request.offsetMs) <= CLOCK_OFFSET_MS_MAX)
    )
      bad('the clock offset must be non-zero and less than ten years');
  }
}

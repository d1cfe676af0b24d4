import { inEnglish, type Said, SaidError, say } from '../../contract/index.ts';
import { LOAD_BALANCER_END } from '../../contract/actions/fault.ts';
import type { HostPlan } from '../config/hosts.ts';
import { NO_FAULTS, type HostFaults } from '../host/messages.ts';
import type { Fault, FaultRequest } from '../faults/fault.ts';
import type { LinkRule } from '../faults/link-gate.ts';

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

/** What the fault does, as a sentence. */
export const sayFault = (fault: FaultRequest): Said => {
  switch (fault.kind) {
    case 'cut':
      return say(fault.isOneWay ? 'injected.cut.oneWay' : 'injected.cut', { from: fault.from, to: fault.to });
    case 'delay':
      return say(fault.isOneWay ? 'injected.delay.oneWay' : 'injected.delay', {
        from: fault.from,
        to: fault.to,
        ms: fault.delayMs,
      });
    case 'slow-disk':
      return say('injected.slowDisk', { host: fault.host, ms: fault.delayMs });
    case 'clock':
      return say(fault.offsetMs < 0 ? 'injected.clock.behind' : 'injected.clock.ahead', {
        host: fault.host,
        ms: Math.abs(fault.offsetMs),
      });
  }
};

export const describeFault = (fault: FaultRequest): string => inEnglish(sayFault(fault));

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
      throw new SaidError('NotFound', say('failure.fault.none', { id }));
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
    const bad = (message: Said): never => {
      throw new SaidError('BadRequest', message);
    };
    if (this.#faults.size >= FAULTS_MAX) bad(say('failure.fault.max', { max: FAULTS_MAX }));
    for (const name of namesOf(request)) {
      if (!known.includes(name))
        throw new SaidError('NotFound', say('failure.noHost', { host: name, known: known.join(', ') }));
      if ('host' in request && name === LOAD_BALANCER) bad(say('failure.fault.loadBalancer'));
    }
    if (!['cut', 'delay', 'slow-disk', 'clock'].includes(request.kind)) bad(say('failure.fault.kind'));
    if ('from' in request && request.from === request.to) bad(say('failure.fault.link'));
    if ('delayMs' in request && !(request.delayMs > 0 && request.delayMs <= DELAY_MS_MAX))
      bad(say('failure.fault.delay', { max: DELAY_MS_MAX }));
    if (
      request.kind === 'clock' &&
      !(request.offsetMs !== 0 && Math.abs(request.offsetMs) <= CLOCK_OFFSET_MS_MAX)
    )
      bad(say('failure.fault.offset'));
  }
}

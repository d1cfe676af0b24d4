import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** Something that listens at one place. A new one is made for each try. */
export interface Listener {
  listen(address: string, port: number): Promise<void>;
  /** Connections that are open. */
  readonly connectionsCount: number;
  /** Stops listening, lets what is open continue, and calls back when it has ended. */
  drain(onDrained: () => void): void;
  /** Stops listening and resets everything. */
  destroy(): void;
}

export interface Place {
  readonly protocol: 'TCP' | 'UDP';
  readonly address: string;
  readonly port: number;
}

export const placeKey = ({ protocol, address, port }: Place): string => `${protocol}/${address}:${port}`;

/** `standby`: another process listens there, and we take over when it ends. `failed`: the system refuses. */
export type ListenState = 'opening' | 'listening' | 'standby' | 'failed';

export interface ListenersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly placesMax?: number;
}

interface Entry<L extends Listener> {
  readonly place: Place;
  readonly make: () => L;
  state: ListenState;
  listener: L | undefined;
  error: string | undefined;
}

/** What to do about it, where that is not plain from the system's words. */
const reasonOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === 'EACCES'
    ? `${messageOf(error)}; ports below net.ipv4.ip_unprivileged_port_start are for root alone`
    : messageOf(error);

const RETRY_MS = 500;
/**
 * Places tried again at each retry. One that is found free means that the other process has ended, and then all are
 * tried: thousands of places cost no more while standing by than sixteen.
 */
const RETRY_PLACES_MAX = 16;
/** Each is a descriptor. */
const PLACES_MAX = 8192;

/** The places where a process wants to listen, on a machine where others may want the same ones. */
export class Listeners<L extends Listener> {
  readonly #options: ListenersOptions;
  readonly #entries = new Map<string, Entry<L>>();
  readonly #draining = new Set<L>();
  /** Entries without a listener; in the order in which they are tried again. */
  readonly #waiting = new Set<Entry<L>>();
  #retry: Disposable | undefined;
  #closed = false;

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Wants to listen there. Resolves after the first try, whatever came of it: `stateOf` says. */
  async add(place: Place, make: () => L): Promise<void> {
    const key = placeKey(place);
    const { log, placesMax = PLACES_MAX } = this.#options;
    if (this.#closed || this.#entries.has(key)) return;
    if (this.#entries.size >= placesMax) {
      log.write('error', 'too many places to listen on; this one is left out', { place: key, placesMax });
      return;
    }
    const entry: Entry<L> = { place, make, state: 'opening', listener: undefined, error: undefined };
    this.#entries.set(key, entry);
    await this.#open(entry);
    this.#arm();
  }

  /** Stops listening there; connections that are open continue until they end. */
  remove(place: Place): void {
    const key = placeKey(place);
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#waiting.delete(entry);
    const { listener } = entry;
    if (!listener) return;
    this.#draining.add(listener);
    listener.drain(() => this.#draining.delete(listener));
  }

  has(place: Place): boolean {
    return this.#entries.has(placeKey(place));
  }

  stateOf(place: Place): ListenState | undefined {
    return this.#entries.get(placeKey(place))?.state;
  }

  listenerAt(place: Place): L | undefined {
    return this.#entries.get(placeKey(place))?.listener;
  }

  get all(): { readonly place: Place; readonly state: ListenState; readonly error: string | undefined }[] {
    return [...this.#entries.values()].map(({ place, state, error }) => ({ place, state, error }));
  }

  count(state: ListenState): number {
    let count = 0;
    for (const entry of this.#entries.values()) if (entry.state === state) count += 1;
    return count;
  }

  /** Stops listening everywhere and resets every connection. */
  close(): void {
    this.#closed = true;
    this.#retry?.dispose();
    this.#waiting.clear();
    for (const { listener } of this.#entries.values()) listener?.destroy();
    for (const listener of this.#draining) listener.destroy();
    this.#entries.clear();
    this.#draining.clear();
  }

  /** True when it now listens. */
  async #open(entry: Entry<L>): Promise<boolean> {
    const { place, make } = entry;
    const key = placeKey(place);
    this.#waiting.delete(entry);
    const listener = make();
    try {
      await listener.listen(place.address, place.port);
    } catch (error) {
      listener.destroy();
      if (this.#entries.get(key) === entry) this.#refused(entry, error);
      return false;
    }
    if (this.#entries.get(key) !== entry) {
      // Removed while it was being opened.
      listener.destroy();
      return false;
    }
    if (entry.state !== 'opening') this.#options.log.write('info', 'took over an address', { place: key });
    entry.state = 'listening';
    entry.error = undefined;
    entry.listener = listener;
    return true;
  }

  #refused(entry: Entry<L>, error: unknown): void {
    const before = entry.state;
    entry.state = (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'standby' : 'failed';
    entry.error = reasonOf(error);
    this.#waiting.add(entry);
    if (entry.state === before) return;
    const level = entry.state === 'failed' ? 'warn' : 'debug';
    this.#options.log.write(level, 'cannot listen yet', { place: placeKey(entry.place), error: entry.error });
  }

  #arm(): void {
    if (this.#closed || this.#waiting.size === 0) return;
    this.#retry ??= this.#options.clock.after(RETRY_MS, () => void this.#tryAgain());
  }

  async #tryAgain(): Promise<void> {
    const some = [...this.#waiting].slice(0, RETRY_PLACES_MAX);
    const opened = await Promise.all(some.map((entry) => this.#open(entry)));
    // Anyone who had one of the addresses had most of the others too.
    if (opened.includes(true) && !this.#closed)
      await Promise.all([...this.#waiting].map((entry) => this.#open(entry)));
    this.#retry = undefined;
    this.#arm();
  }
}

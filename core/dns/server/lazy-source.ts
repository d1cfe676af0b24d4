import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { ZoneSource } from '../zone/index.ts';

/** What is watched for as long as there are requests. */
export interface WatchedSource extends Disposable {
  readonly isSynced: boolean;
  ready(): Promise<ZoneSource>;
}

export interface LazySourceOptions {
  readonly clock: Clock;
  /** Watches end when nothing was asked for so long. */
  readonly idleMs: number;
  open(): Promise<WatchedSource>;
}

/**
 * The cluster's objects on demand: watches begin with the first question and end when the server is idle, so that a
 * server that no one uses costs a socket and no memory. The first answer waits for the first list.
 */
export class LazySource implements Disposable {
  readonly #options: LazySourceOptions;
  #opened: Promise<WatchedSource> | undefined;
  #source: WatchedSource | undefined;
  #usedMs = 0;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: LazySourceOptions) {
    this.#options = options;
  }

  /** False while objects are being listed: then an answer may be late. */
  get isReady(): boolean {
    return this.#opened === undefined || this.#source?.isSynced === true;
  }

  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  async get(): Promise<ZoneSource> {
    this.#usedMs = this.#options.clock.monotonicMs();
    this.#opened ??= this.#open();
    this.#arm();
    return (await this.#opened).ready();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#close();
  }

  async #open(): Promise<WatchedSource> {
    try {
      const source = await this.#options.open();
      if (this.#isDisposed) source.dispose();
      this.#source = source;
      return source;
    } catch (error) {
      // The next question tries again.
      this.#opened = undefined;
      throw error;
    }
  }

  #close(): void {
    this.#source?.dispose();
    this.#source = undefined;
    this.#opened = undefined;
  }

  #arm(): void {
    const { clock, idleMs } = this.#options;
    this.#timer ??= clock.after(idleMs, () => {
      this.#timer = undefined;
      if (clock.monotonicMs() - this.#usedMs >= idleMs) this.#close();
      else this.#arm();
    });
  }
}

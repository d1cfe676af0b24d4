import type { Clock } from '../../base/clock.ts';
import { say, type Said } from '../../contract/index.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { renewDue } from '../../pki/index.ts';

/** The cluster has other things to do when it has just become ready. */
const FIRST_CHECK_MS = 60_000;
const CHECK_EVERY_MS = 12 * 3_600_000;

export interface CertificateKeeperOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs while no operation is in progress; rejects when one is. */
  alone<T>(what: Said, run: () => Promise<T>): Promise<T>;
}

/** Renews certificates of components while the cluster runs, before they expire. Components reload their files. */
export class CertificateKeeper implements Disposable {
  readonly #options: CertificateKeeperOptions;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#checkAfter(FIRST_CHECK_MS);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  #checkAfter(delayMs: number): void {
    if (this.#isDisposed) return;
    this.#timer = this.#options.clock.after(delayMs, () => {
      void this.#check().then(() => this.#checkAfter(CHECK_EVERY_MS));
    });
  }

  async #check(): Promise<void> {
    const { dataDirectory, clock, log, alone } = this.#options;
    try {
      const renewed = await alone(say('exclusive.renewal'), () => renewDue(dataDirectory, clock));
      if (renewed.length > 0)
        log.write('info', 'certificates were renewed before they expire', { names: renewed.join(', ') });
    } catch (error) {
      log.write('warn', 'certificates could not be renewed automatically; the next attempt is in 12 hours', {
        error: messageOf(error),
      });
    }
  }
}

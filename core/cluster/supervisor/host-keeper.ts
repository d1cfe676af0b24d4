import type { Clock } from '../../base/clock.ts';
import { say, inEnglish, type Said } from '../../contract/index.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { exitsInARow, RESTARTS_IN_A_ROW_MAX, verdictOn } from './restart-policy.ts';
import type { HostExit } from '../state/cluster-state.ts';

/** Between two looks at whether an operation that works on hosts is over. */
const BUSY_PAUSE_MS = 1_000;

/** An exit that no one asked for. */
export interface HostCrash {
  readonly host: string;
  /** `terminated by SIGKILL`. */
  readonly reason: Said;
  /** What becomes of it, as a sentence for anyone who reads the status. */
  readonly outcome: Said;
  readonly isGivenUp: boolean;
}

export interface HostRestarts {
  /** Since the cluster was started. */
  readonly restarts: number;
  readonly lastExit: HostExit | undefined;
}

export interface HostKeeperOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** An operation that starts and stops hosts itself is in progress. */
  isBusy(): boolean;
  /** True where an unfinished change of members decides what becomes of the host. */
  isUnsettled(host: string): Promise<boolean>;
  /** Rejects where the host cannot be started; its exit is told by `exited`. */
  start(host: string): Promise<void>;
  onCrash(crash: HostCrash): void;
  /** It is not restarted, because it is unsettled. */
  onLeft(host: string): void;
}

interface Kept {
  startedMs: number;
  inARow: number;
  restarts: number;
  lastExit: HostExit | undefined;
  pending: Disposable | undefined;
}

/** Restarts hosts that have exited without being asked to, with a back-off and a limit. */
export class HostKeeper implements Disposable {
  readonly #options: HostKeeperOptions;
  readonly #hosts = new Map<string, Kept>();
  #isDisposed = false;

  constructor(options: HostKeeperOptions) {
    this.#options = options;
  }

  restartsOf(host: string): HostRestarts {
    const { restarts = 0, lastExit } = this.#hosts.get(host) ?? {};
    return { restarts, lastExit };
  }

  /** A process was launched, by whomever. */
  started(host: string): void {
    const kept = this.#kept(host);
    kept.pending?.dispose();
    kept.pending = undefined;
    kept.startedMs = this.#options.clock.monotonicMs();
  }

  exited(host: string, reason: Said): void {
    if (this.#isDisposed) return;
    const { clock, log, onCrash } = this.#options;
    const kept = this.#kept(host);
    kept.inARow = exitsInARow(kept.inARow, clock.monotonicMs() - kept.startedMs);
    const verdict = verdictOn(kept.inARow);
    const isGivenUp = verdict.kind === 'stay-down';
    kept.lastExit = { reason, atMs: clock.nowMs(), isGivenUp };
    const outcome = isGivenUp
      ? say('exit.staysDown', { count: verdict.exits, host })
      : say('exit.restarting', {
          seconds: verdict.delayMs / 1000,
          attempt: verdict.attempt,
          max: RESTARTS_IN_A_ROW_MAX,
        });
    log.write('error', 'a host exited unexpectedly', {
      host,
      reason: inEnglish(reason),
      outcome: inEnglish(outcome),
    });
    if (!isGivenUp) this.#restartIn(host, kept, verdict.delayMs);
    onCrash({ host, reason, outcome, isGivenUp });
  }

  /** A person decides: a restart that waits does not come, and earlier exits count no more. True if one waited. */
  release(host: string): boolean {
    const kept = this.#hosts.get(host);
    const isPending = kept?.pending !== undefined;
    kept?.pending?.dispose();
    if (kept) [kept.pending, kept.inARow] = [undefined, 0];
    return isPending;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const { pending } of this.#hosts.values()) pending?.dispose();
  }

  #kept(host: string): Kept {
    const known = this.#hosts.get(host);
    if (known) return known;
    const kept: Kept = { startedMs: 0, inARow: 0, restarts: 0, lastExit: undefined, pending: undefined };
    this.#hosts.set(host, kept);
    return kept;
  }

  #restartIn(host: string, kept: Kept, delayMs: number): void {
    kept.pending?.dispose();
    const pending = this.#options.clock.after(delayMs, () => {
      this.#restart(host, kept, pending).catch((error: unknown) =>
        this.#options.log.write('error', 'failed to restart a host', { host, error: messageOf(error) }),
      );
    });
    kept.pending = pending;
  }

  async #restart(host: string, kept: Kept, pending: Disposable): Promise<void> {
    const { isBusy, isUnsettled, start } = this.#options;
    // A restore replaces the data of hosts that are down: nothing may start meanwhile.
    if (isBusy()) return this.#restartIn(host, kept, BUSY_PAUSE_MS);
    const isLeft = await isUnsettled(host);
    if (this.#isDisposed || kept.pending !== pending) return;
    kept.pending = undefined;
    if (isLeft) return this.#options.onLeft(host);
    kept.restarts += 1;
    await start(host);
  }
}

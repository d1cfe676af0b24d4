import type { RaftCore } from '../../raft/core.ts';
import type { ReadState } from '../../raft/types.ts';
import type { Waiter } from './pending.ts';

/** Asked again with a fresh context after this long without an answer: the message, or the leader, was lost. */
const RETRY_MS = 500;

interface Round {
  context: number;
  /** 0 while it is not known. */
  index: number;
  askedAtMs: number;
  readonly deadlineMs: number;
  readonly readers: Waiter<void>[];
}

export interface ReadGateOptions {
  readonly raft: Pick<RaftCore, 'readIndex'>;
  readonly wake: () => void;
  readonly nowMs: () => number;
  readonly limitMs: number;
  readonly readersMax: number;
  /**
   * Contexts are counted from here. Chosen at random for each start: an answer to a question from before a restart
   * may still be on its way, and must not pass for the answer to a new one.
   */
  readonly firstContext: number;
  readonly timedOut: () => unknown;
  readonly tooMany: () => unknown;
  /** The leader is asked again, or a round is given up. */
  readonly onSlow?: () => void;
  readonly onFailed?: () => void;
}

/**
 * Linearizable reads (Raft thesis, section 6.4): a read may be answered from the local state once the state
 * has caught up with what was committed when the read began. All reads of one moment share a round.
 */
export class ReadGate {
  readonly #options: ReadGateOptions;
  /** Oldest first; the newest still takes readers until it is asked. */
  readonly #rounds: Round[] = [];
  #collecting: Round | undefined;
  #lastContext: number;
  #readerCount = 0;
  #applied = 0;

  constructor(options: ReadGateOptions) {
    this.#options = options;
    this.#lastContext = options.firstContext;
  }

  /** Somebody waits, and may have to be asked for again. */
  get isWaiting(): boolean {
    return this.#rounds.length > 0;
  }

  /** Resolves when a read of the local state is linearizable. */
  pass(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#readerCount >= this.#options.readersMax) {
        reject(this.#options.tooMany());
        return;
      }
      this.#readerCount += 1;
      if (this.#collecting === undefined) {
        const nowMs = this.#options.nowMs();
        this.#collecting = {
          context: 0,
          index: 0,
          askedAtMs: nowMs,
          deadlineMs: nowMs + this.#options.limitMs,
          readers: [],
        };
        this.#rounds.push(this.#collecting);
        this.#options.wake();
      }
      this.#collecting.readers.push({ resolve, reject });
    });
  }

  /** Before a turn of the driver: anyone who came since the last one goes into the same round. */
  askCollected(): void {
    const round = this.#collecting;
    this.#collecting = undefined;
    if (round !== undefined) this.#ask(round);
  }

  onReadStates(states: readonly ReadState[]): void {
    for (const { context, index } of states) {
      const round = this.#rounds.find((candidate) => candidate.context === context);
      if (round !== undefined) round.index = Math.max(round.index, index, 1);
    }
    this.#release();
  }

  onApplied(index: number): void {
    this.#applied = index;
    if (this.#rounds.length > 0) this.#release();
  }

  /** There is a leader who was not asked yet: anyone who waits need not wait for a tick as well. */
  onNewLeader(): void {
    for (const round of this.#rounds) if (round.index === 0 && round !== this.#collecting) this.#ask(round);
  }

  /** Called with every tick: asks again what was not answered, gives up on what is late. */
  tick(nowMs: number): void {
    for (let at = this.#rounds.length - 1; at >= 0; at -= 1) {
      const round = this.#rounds[at]!;
      if (round.deadlineMs <= nowMs) {
        this.#rounds.splice(at, 1);
        if (this.#collecting === round) this.#collecting = undefined;
        this.#readerCount -= round.readers.length;
        this.#options.onFailed?.();
        for (const reader of round.readers) reader.reject(this.#options.timedOut());
      } else if (round.index === 0 && nowMs - round.askedAtMs >= RETRY_MS && round !== this.#collecting) {
        this.#options.onSlow?.();
        this.#ask(round);
      }
    }
  }

  rejectAll(error: () => unknown): void {
    const rounds = this.#rounds.splice(0);
    this.#collecting = undefined;
    this.#readerCount = 0;
    for (const round of rounds) for (const reader of round.readers) reader.reject(error());
  }

  #ask(round: Round): void {
    round.askedAtMs = this.#options.nowMs();
    // A late answer to an earlier question must not count: it could be from before this read began.
    round.context = this.#lastContext += 1;
    const refusal = this.#options.raft.readIndex(round.context);
    // Without a leader the tick asks again until there is one or the limit is over.
    if (refusal === undefined) this.#options.wake();
  }

  #release(): void {
    for (let at = 0; at < this.#rounds.length;) {
      const round = this.#rounds[at]!;
      if (round.index === 0 || round.index > this.#applied) {
        at += 1;
        continue;
      }
      this.#rounds.splice(at, 1);
      this.#readerCount -= round.readers.length;
      for (const reader of round.readers) reader.resolve();
    }
  }
}

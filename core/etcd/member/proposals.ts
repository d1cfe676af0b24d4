import type { ConfigChange } from '../../raft/configuration.ts';
import type { RaftCore } from '../../raft/core.ts';
import type { MemberId } from '../../raft/types.ts';
import type { ProposeResult } from '../../raft/turn.ts';
import type { Identity } from '../auth/index.ts';
import { etcdError } from '../refusals/errors.ts';
import { PendingRequests } from './pending.ts';
import { encodeRequestEntry, type Proposer, type RequestKind } from './request-entry.ts';

/** Client requests that may wait at the same time; more are told to come back. */
const WAITING_MAX = 20_000;

/** What applying an entry came to. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

interface Waiting {
  readonly data: Uint8Array;
  /** The term in which it was given to a leader; 0 while there is none to give it to. */
  term: number;
  /** What only the leader of that term may ask for: lost with it, never proposed again. */
  readonly isOfOneTerm: boolean;
}

export interface ProposalsOptions {
  readonly raft: Pick<RaftCore, 'propose' | 'proposeConfiguration' | 'term' | 'role'>;
  readonly member: MemberId;
  readonly boot: number;
  readonly wake: () => void;
  readonly nowMs: () => number;
  readonly requestBytesMax: number;
  /** How long a request may wait for its entry. */
  readonly limitMs: number;
  /** How long there may be no leader before requests are refused instead of kept. */
  readonly leaderlessMs: number;
}

/**
 * Requests on their way through the log. A request is answered when its own entry is applied here.
 *
 * A change of leader loses proposals. Which ones is certain as soon as an entry of a later term is applied:
 * terms never go down along the log, so what was proposed in an earlier term and has not been applied by
 * then never will be. Those are proposed again, which no client can tell from a slow write.
 */
export class Proposals {
  readonly #options: ProposalsOptions;
  readonly #pending: PendingRequests<unknown>;
  readonly #waiting = new Map<number, Waiting>();
  #sequence = 0;
  #heldCount = 0;
  #failedCount = 0;
  #appliedTerm = 0;
  #leaderlessSinceMs: number | undefined;

  constructor(options: ProposalsOptions) {
    this.#options = options;
    this.#pending = new PendingRequests({ limitMs: options.limitMs, countMax: WAITING_MAX });
    this.#leaderlessSinceMs = options.nowMs();
  }

  get count(): number {
    return this.#pending.size;
  }

  /** Requests that were given up: they came too late, or their leader was lost. */
  get failedCount(): number {
    return this.#failedCount;
  }

  /** Resolves with what applying the request answered. */
  propose(kind: RequestKind, payload: Uint8Array, identity?: Identity): Promise<unknown> {
    const { member, boot, requestBytesMax } = this.#options;
    if (payload.byteLength > requestBytesMax) return Promise.reject(etcdError('RequestTooLarge'));
    const sequence = this.#nextSequence();
    const data = encodeRequestEntry({ kind, payload, member, boot, sequence, identity });
    return this.#send(sequence, data, { isOfOneTerm: false });
  }

  /**
   * What this member asks for because it leads in `term`: refused when it no longer does, and never proposed in
   * another term. A leader that was stopped for a while would otherwise act on what it knew before.
   */
  proposeAsLeader(
    term: number,
    kind: RequestKind,
    payload: Uint8Array,
    identity?: Identity,
  ): Promise<unknown> {
    const { member, boot, raft } = this.#options;
    if (raft.role !== 'leader' || raft.term !== term) return Promise.reject(etcdError('NotLeader'));
    const sequence = this.#nextSequence();
    const data = encodeRequestEntry({ kind, payload, member, boot, sequence, identity });
    return this.#send(sequence, data, { isOfOneTerm: true });
  }

  /**
   * A change of members. Not proposed again when a leader is lost: what it was checked against may have
   * changed by then.
   */
  proposeConfiguration(changeFor: (proposer: Proposer) => ConfigChange): Promise<unknown> {
    const { member, boot, raft } = this.#options;
    const sequence = this.#nextSequence();
    return new Promise((resolve, reject) => {
      const result = raft.proposeConfiguration(changeFor({ member, boot, sequence }));
      if (result.kind === 'refused') {
        reject(this.#refusal(result) ?? etcdError('NoLeader'));
        return;
      }
      this.#pending.add(sequence, this.#options.nowMs(), { resolve, reject });
      this.#options.wake();
    });
  }

  /** The entry is applied: anyone who waits for it here is told. */
  applied(proposer: Proposer, outcome: Outcome): void {
    if (proposer.member !== this.#options.member || proposer.boot !== this.#options.boot) return;
    this.#forget(proposer.sequence);
    const waiter = this.#pending.take(proposer.sequence);
    if (waiter === undefined) return;
    if ('error' in outcome) waiter.reject(outcome.error);
    else waiter.resolve(outcome.value);
  }

  /** Called for every applied entry, before the next one. */
  appliedTerm(term: number): void {
    if (term <= this.#appliedTerm) return;
    this.#appliedTerm = term;
    for (const [sequence, waiting] of this.#waiting) {
      if (waiting.term >= term) continue;
      if (waiting.isOfOneTerm) this.#reject(sequence, etcdError('LeaderChanged'));
      else this.#give(sequence, waiting);
    }
  }

  /**
   * A leader's state took the place of the own one: entries up to `mark` were not applied here one by one. What
   * was proposed in that term or before may be among them, so it must not be proposed again.
   */
  installed(mark: { readonly term: number }): void {
    for (const [sequence, waiting] of this.#waiting) {
      if (waiting.term === 0 || waiting.term > mark.term) continue;
      if (waiting.term < mark.term) this.#reject(sequence, etcdError('Timeout'));
      // Of the same term: its entry may still come.
      else this.#forget(sequence);
    }
    this.#appliedTerm = Math.max(this.#appliedTerm, mark.term);
  }

  /** There is a leader, or there is none. */
  onLeader(leader: MemberId): void {
    if (leader === 0) {
      this.#leaderlessSinceMs ??= this.#options.nowMs();
      return;
    }
    this.#leaderlessSinceMs = undefined;
    this.#giveHeld();
  }

  tick(nowMs: number): void {
    this.#pending.rejectLate(nowMs, () => {
      this.#failedCount += 1;
      return etcdError('Timeout');
    });
    const since = this.#leaderlessSinceMs;
    const isLeaderless = since !== undefined && nowMs - since > this.#options.leaderlessMs;
    for (const [sequence, waiting] of this.#waiting) {
      if (isLeaderless && waiting.term === 0) this.#pending.take(sequence)?.reject(etcdError('NoLeader'));
      if (!this.#pending.has(sequence)) this.#forget(sequence);
    }
    // A transfer of leadership that was given up lets proposals in again without a change of leader.
    if (since === undefined) this.#giveHeld();
  }

  rejectAll(error: () => unknown): void {
    this.#waiting.clear();
    this.#heldCount = 0;
    this.#pending.rejectAll(error);
  }

  #send(
    sequence: number,
    data: Uint8Array,
    { isOfOneTerm }: { readonly isOfOneTerm: boolean },
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#pending.isFull) {
        reject(etcdError('TooManyRequests'));
        return;
      }
      const waiting: Waiting = { data, term: 0, isOfOneTerm };
      this.#pending.add(sequence, this.#options.nowMs(), { resolve, reject });
      this.#waiting.set(sequence, waiting);
      this.#heldCount += 1;
      this.#give(sequence, waiting);
    });
  }

  #give(sequence: number, waiting: Waiting): void {
    const result = this.#options.raft.propose(waiting.data);
    const refused =
      this.#refusal(result) ??
      (waiting.isOfOneTerm && result.kind !== 'appended' ? etcdError('NotLeader') : undefined);
    if (refused !== undefined) {
      this.#reject(sequence, refused);
      return;
    }
    const wasHeld = waiting.term === 0;
    waiting.term = result.kind === 'refused' ? 0 : this.#options.raft.term;
    this.#heldCount += Number(waiting.term === 0) - Number(wasHeld);
    this.#options.wake();
  }

  #giveHeld(): void {
    if (this.#heldCount === 0) return;
    for (const [sequence, waiting] of this.#waiting) if (waiting.term === 0) this.#give(sequence, waiting);
  }

  #reject(sequence: number, error: unknown): void {
    this.#forget(sequence);
    const waiter = this.#pending.take(sequence);
    if (!waiter) return;
    this.#failedCount += 1;
    waiter.reject(error);
  }

  #forget(sequence: number): void {
    if (this.#waiting.get(sequence)?.term === 0) this.#heldCount -= 1;
    this.#waiting.delete(sequence);
  }

  /** Undefined also for want of a leader: then the request is kept for the next one, for a while. */
  #refusal(result: ProposeResult): unknown {
    if (result.kind !== 'refused') return undefined;
    switch (result.reason) {
      case 'NoLeader':
      case 'Transferring': {
        const since = this.#leaderlessSinceMs;
        const late = since !== undefined && this.#options.nowMs() - since > this.#options.leaderlessMs;
        return late ? etcdError('NoLeader') : undefined;
      }
      case 'Removed':
        return etcdError('Stopped');
      case 'UncommittedTooLarge':
      case 'GapTooLarge':
      case 'ForwardTooLarge':
        return etcdError('TooManyRequests');
      case 'ConfigPending':
      case 'InvalidChange':
        return etcdError('Unhealthy');
    }
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return this.#sequence;
  }
}

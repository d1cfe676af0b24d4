import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Random } from '../../base/random.ts';
import type { RaftCore } from '../../raft/core.ts';
import { voteResult } from '../../raft/quorum.ts';
import { NOBODY, type MemberId } from '../../raft/types.ts';

/** A turn to stand is this part of an election timeout: long enough for an election on a quiet network. */
const TURNS_IN_TIMEOUT = 25;
/** Candidates that split the vote try again after so many turns; what takes longer is a slow network's election. */
const SPLIT_TURNS = 6;
/** How often it looks whether it could stand, and stands; after that the election timeout alone decides. */
const LOOKS_MAX = 400;
const STANDS_MAX = 6;

export interface EarlyElectionOptions {
  readonly raft: Pick<RaftCore, 'leader' | 'role' | 'term' | 'configuration' | 'campaign'>;
  readonly id: MemberId;
  readonly clock: Clock;
  readonly random: Random;
  readonly electionTimeoutMs: number;
  isConnected(id: MemberId): boolean;
  /** Owed after anything that was told to the core. */
  wake(): void;
}

/**
 * Stands for election before the timeout, where there is surely no leader to wait for: after the start, when a quorum
 * is connected, and when the leader's process has ended. It only chooses the moment. A pre-vote goes first, and
 * members that hear a leader do not answer it, so a guess that is wrong disturbs no one.
 */
export class EarlyElection implements Disposable {
  readonly #options: EarlyElectionOptions;
  readonly #turnMs: number;
  #timer: Disposable | undefined;
  #looksLeft = 0;
  #standsLeft = 0;
  #isInLine = false;
  #splitTerm = 0;

  constructor(options: EarlyElectionOptions) {
    this.#options = options;
    this.#turnMs = options.electionTimeoutMs / TURNS_IN_TIMEOUT;
  }

  /** From now until there is a leader. */
  begin(): void {
    this.#looksLeft = LOOKS_MAX;
    this.#standsLeft = STANDS_MAX;
    this.#isInLine = false;
    this.#look();
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  #look(): void {
    this.#timer?.dispose();
    const { raft, clock } = this.#options;
    this.#looksLeft -= 1;
    if (raft.leader !== NOBODY || this.#looksLeft < 0 || this.#standsLeft === 0) return;
    const turns = this.#turnsToWait();
    this.#timer = clock.after(turns * this.#turnMs, () => this.#look());
  }

  /** Stands if it is time to. */
  #turnsToWait(): number {
    const { raft, id, random } = this.#options;
    const { configuration } = raft;
    const voters = [...new Set([...configuration.voters, ...configuration.votersOutgoing])];
    const connected = voters.filter((voter) => voter === id || this.#options.isConnected(voter));
    const votes = new Map(connected.map((voter) => [voter, true]));
    if (!voters.includes(id) || voteResult(configuration, votes) !== 'won') {
      this.#isInLine = false;
      return 1 / 2;
    }
    // In turns, lest they take votes from each other.
    const place = connected.indexOf(id) + random.next() / 2;
    if (!this.#isInLine && connected.length > 1) {
      this.#isInLine = true;
      // The others have to know first what this one knows.
      return 1 / 2 + place;
    }
    if (raft.role === 'candidate' && raft.term !== this.#splitTerm) {
      this.#splitTerm = raft.term;
      return SPLIT_TURNS + place;
    }
    this.#standsLeft -= 1;
    raft.campaign();
    this.#options.wake();
    return connected.length + random.next() / 2;
  }
}

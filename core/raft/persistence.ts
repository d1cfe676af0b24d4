import { assert } from '../base/assert.ts';
import type { Message } from './messages.ts';
import type { RaftState } from './state.ts';
import type { Persist } from './turn.ts';
import type { HardState, MemberId, SnapshotMark } from './types.ts';

/**
 * Keeps promises back until what they promise is on disk: messages in `RaftState.held` are tied to the write
 * that takes along everything unsaved at that moment, and come free when exactly that write is reported.
 */
export class Persistence {
  readonly #state: RaftState;
  #term: number;
  #vote: MemberId;
  #commit: number;
  #snapshot: SnapshotMark | undefined;
  #writing: Persist | undefined;
  #promises: readonly Message[] = [];

  constructor(state: RaftState, onDisk: HardState) {
    this.#state = state;
    this.#term = onDisk.term;
    this.#vote = onDisk.vote;
    this.#commit = onDisk.commit;
  }

  /** Everything known is on disk, so a promise made now holds already. */
  isClean(): boolean {
    return this.#writing === undefined && !this.#isDirty();
  }

  /** A commit index that moved alone is left out: it can be learnt again. */
  #isDirty(): boolean {
    const { log, term, vote } = this.#state;
    return (
      term !== this.#term ||
      vote !== this.#vote ||
      log.hasUnpersisted() ||
      (log.snapshot !== undefined && log.snapshot !== this.#snapshot)
    );
  }

  /** The next write, if one is due and none is in progress. */
  take(): Persist | undefined {
    if (this.#writing !== undefined || !this.#isDirty()) return undefined;
    const state = this.#state;
    const { log, term, vote } = state;
    const commit = log.committed;
    const changed = term !== this.#term || vote !== this.#vote || commit !== this.#commit;
    const snapshot = log.snapshot === this.#snapshot ? undefined : log.snapshot;
    this.#term = term;
    this.#vote = vote;
    this.#commit = commit;
    this.#snapshot = log.snapshot;
    this.#writing = {
      snapshot,
      entries: log.takeUnpersisted(),
      hardState: changed ? { term, vote, commit } : undefined,
    };
    this.#promises = state.held;
    state.held = [];
    return this.#writing;
  }

  /** The promises that `persist` sets free. */
  done(persist: Persist): readonly Message[] {
    assert(persist === this.#writing, 'persisted() answers the turn that is being persisted');
    const { log, tracker } = this.#state;
    this.#writing = undefined;
    log.persisted();
    if (persist.snapshot !== undefined) {
      log.installed(persist.snapshot);
      tracker.switchTo(persist.snapshot.configuration, log.lastIndex);
    }
    const promises = this.#promises;
    this.#promises = [];
    return promises;
  }
}

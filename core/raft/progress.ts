import { Inflights } from './inflights.ts';
import type { MemberId } from './types.ts';

/**
 * `probe`: one append at a time until the match is known. `replicate`: a window of appends sent ahead of
 * their acknowledgements. `snapshot`: nothing until the state has arrived.
 */
export type ProgressState = 'probe' | 'replicate' | 'snapshot';

/** What the leader knows about one member, itself included. Invariant: match < next. */
export class Progress {
  readonly id: MemberId;
  learner: boolean;
  readonly inflights: Inflights;
  match = 0;
  next: number;
  state: ProgressState = 'probe';
  /** A probe is out; cleared by its reply or by a heartbeat's, whichever comes. */
  probeSent = false;
  /** Send an append at the next flush even if there is nothing new, so that a lost window is noticed. */
  nudge = false;
  /** The match moved since the last heartbeat tick. */
  advanced = false;
  /** It did not, though there was something to acknowledge: the window may be lost on the way. */
  stalled = false;
  /** Highest commit index told to the peer. */
  sentCommit = 0;
  pendingSnapshot = 0;
  /** Heard from since the last quorum check. */
  recentActive = false;
  /** Highest read round that the peer confirmed. */
  readAck = 0;

  constructor(options: {
    readonly id: MemberId;
    readonly learner: boolean;
    readonly next: number;
    readonly bounds: { readonly inflightMessagesMax: number; readonly inflightBytesMax: number };
  }) {
    this.id = options.id;
    this.learner = options.learner;
    this.next = options.next;
    this.inflights = new Inflights(options.bounds);
  }

  becomeProbe(): void {
    const next = this.state === 'snapshot' ? Math.max(this.match, this.pendingSnapshot) + 1 : this.match + 1;
    this.#enter('probe', next);
  }

  becomeReplicate(): void {
    this.#enter('replicate', this.match + 1);
  }

  becomeSnapshot(): void {
    this.#enter('snapshot', this.next);
  }

  #enter(state: ProgressState, next: number): void {
    this.state = state;
    this.next = next;
    this.probeSent = false;
    this.pendingSnapshot = 0;
    this.sentCommit = Math.min(this.sentCommit, next - 1);
    this.inflights.clear();
  }

  get paused(): boolean {
    if (this.state === 'replicate') return this.inflights.full;
    return this.state === 'snapshot' || this.probeSent;
  }

  sent(entries: { readonly count: number; readonly bytes: number; readonly commit: number }): void {
    this.sentCommit = Math.max(this.sentCommit, Math.min(entries.commit, this.next - 1 + entries.count));
    if (this.state === 'probe') {
      this.probeSent = true;
    } else if (entries.count > 0) {
      this.next += entries.count;
      this.inflights.add(this.next - 1, entries.bytes);
    }
  }

  /** True when the acknowledgement says something new. */
  acknowledged(index: number): boolean {
    if (index <= this.match) return false;
    this.match = index;
    this.next = Math.max(this.next, index + 1);
    this.probeSent = false;
    this.advanced = true;
    return true;
  }

  /** Steps back after a rejection; false when the rejection is an old one that arrived late. */
  rejected(index: number, hint: number): boolean {
    if (this.state === 'replicate') {
      if (index <= this.match) return false;
      this.becomeProbe();
      return true;
    }
    if (this.next - 1 !== index) return false;
    this.next = Math.max(Math.min(index, hint + 1), this.match + 1);
    this.sentCommit = Math.min(this.sentCommit, this.next - 1);
    this.probeSent = false;
    return true;
  }
}

import { entryBytes } from './log.ts';
import type { AppendReply, HeartbeatReply } from './messages.ts';
import type { Progress } from './progress.ts';
import type { RaftState } from './state.ts';
import type { LogEntry } from './types.ts';

/** Appends owed to every peer, once a turn, so that all proposals of a turn share one message a peer. */
export const flushAppends = (state: RaftState): void => {
  const page = new Page(state);
  for (const peer of state.tracker.all) {
    if (peer.id === state.id) continue;
    // Ends at the bound of the window: every pass but the last adds to it.
    while (sendAppend(state, peer, page));
    sendCommit(state, peer);
  }
};

/** Peers in step ask for the same page: it is cut once. */
class Page {
  readonly #state: RaftState;
  #from = 0;
  #entries: readonly LogEntry[] = [];
  #bytes = 0;

  constructor(state: RaftState) {
    this.#state = state;
  }

  cut(from: number): { readonly entries: readonly LogEntry[]; readonly bytes: number } {
    if (from !== this.#from) {
      this.#from = from;
      this.#entries = this.#state.log.entries(from, this.#state.bounds.appendBytesMax);
      this.#bytes = 0;
      for (const entry of this.#entries) this.#bytes += entryBytes(entry);
    }
    return { entries: this.#entries, bytes: this.#bytes };
  }
}

const NOTHING = { entries: [], bytes: 0 } as const;

/** True when there may be more to send to this peer. */
const sendAppend = (state: RaftState, peer: Progress, page: Page): boolean => {
  const { log } = state;
  const throttled = peer.state === 'replicate' && peer.paused;
  if (peer.paused && !(throttled && peer.nudge)) return false;
  const hasEntries = peer.next <= log.lastIndex && !throttled;
  if (!hasEntries && !peer.nudge && peer.state !== 'probe') return false;

  const prevIndex = peer.next - 1;
  const prevTerm = log.term(prevIndex);
  if (prevTerm === undefined) {
    wantSnapshot(state, peer);
    return false;
  }
  const { entries, bytes } = hasEntries ? page.cut(peer.next) : NOTHING;
  state.outbox.push({
    kind: 'append',
    from: state.id,
    to: peer.id,
    term: state.term,
    prevIndex,
    prevTerm,
    entries,
    commit: log.committed,
  });
  peer.nudge = false;
  peer.sent({ count: entries.length, bytes, commit: log.committed });
  return peer.state === 'replicate' && entries.length > 0;
};

/** For a commit index that found no append to travel with. A lost one is made good by the next heartbeat. */
const sendCommit = (state: RaftState, peer: Progress): void => {
  const commit = Math.min(peer.match, state.log.committed);
  if (commit <= peer.sentCommit) return;
  peer.sentCommit = commit;
  state.outbox.push({ kind: 'commit', from: state.id, to: peer.id, term: state.term, commit });
};

/** A peer that is not heard would not hear the snapshot either. */
const wantSnapshot = (state: RaftState, peer: Progress): void => {
  if (!peer.recentActive) return;
  peer.becomeSnapshot();
  state.snapshotsWanted.push(peer.id);
};

export const onAppendReply = (state: RaftState, message: AppendReply): void => {
  const peer = state.tracker.get(message.from);
  if (peer === undefined) return;
  peer.recentActive = true;
  if (message.reject) {
    // Both sides skip a whole term: the follower by its hint, the leader by its own log.
    const hint =
      message.hintTerm > 0
        ? state.log.lastNotAbove(message.hintIndex, message.hintTerm).index
        : message.hintIndex;
    peer.rejected(message.index, hint);
    return;
  }
  // An index beyond the log can only come from a broken peer; counting it could commit what is not there.
  if (message.index > state.log.lastIndex) return;
  const news = peer.acknowledged(message.index);
  if (!news && !(peer.state === 'probe' && peer.match === message.index)) return;
  if (peer.state === 'probe') {
    peer.becomeReplicate();
  } else if (peer.state === 'snapshot') {
    if (peer.match + 1 >= state.log.firstIndex) peer.becomeReplicate();
  } else {
    peer.inflights.freeTo(message.index);
  }
  advanceCommit(state);
  if (peer.id === state.transferee && peer.match === state.log.lastIndex) sendTimeoutNow(state, peer);
};

export const sendTimeoutNow = (state: RaftState, peer: Progress): void => {
  state.outbox.push({ kind: 'timeoutNow', from: state.id, to: peer.id, term: state.term });
};

/** Only entries of the own term are committed by counting (Raft paper, section 5.4.2). */
export const advanceCommit = (state: RaftState): void => {
  const index = state.tracker.committed();
  if (index > state.log.committed && state.log.matches(index, state.term)) state.commitTo(index);
};

/** The leader's own disk has caught up; until then it is not part of any quorum. */
export const onOwnPersisted = (state: RaftState): void => {
  if (state.role !== 'leader') return;
  const own = state.tracker.get(state.id);
  if (own === undefined || !own.acknowledged(state.log.stable)) return;
  advanceCommit(state);
};

/** Once a heartbeat interval: who stands still is nudged as soon as it is heard. */
export const beat = (state: RaftState): void => {
  for (const peer of state.tracker.all) {
    peer.stalled = !peer.advanced && peer.match < state.log.lastIndex;
    peer.advanced = false;
  }
  // A repeated question gets a number of its own, so that no answer to the first is taken for it.
  if (state.readBatches.length > 0) nextReadRound(state);
  broadcastHeartbeat(state);
};

export const nextReadRound = (state: RaftState): void => {
  state.readRound += 1;
  const own = state.tracker.get(state.id);
  if (own !== undefined) own.readAck = state.readRound;
};

export const broadcastHeartbeat = (state: RaftState): void => {
  for (const peer of state.tracker.all) {
    if (peer.id === state.id) continue;
    // Never beyond the match: the peer's log may differ from there on.
    const commit = Math.min(peer.match, state.log.committed);
    peer.sentCommit = Math.max(peer.sentCommit, commit);
    state.outbox.push({
      kind: 'heartbeat',
      from: state.id,
      to: peer.id,
      term: state.term,
      commit,
      readRound: state.readRound,
    });
  }
};

export const onHeartbeatReply = (state: RaftState, message: HeartbeatReply): void => {
  const peer = state.tracker.get(message.from);
  if (peer === undefined) return;
  peer.recentActive = true;
  peer.probeSent = false;
  if (peer.stalled) peer.nudge = true;
  peer.stalled = false;
  peer.readAck = Math.max(peer.readAck, message.readRound);
};

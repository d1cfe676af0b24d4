import type { AppendMessage, HeartbeatMessage, SnapshotMessage } from './messages.ts';
import { membersOf } from './configuration.ts';
import type { RaftState } from './state.ts';
import type { MemberId } from './types.ts';

/** Held until the log that it speaks of is on disk. The last of several says what they all say. */
const acknowledge = (state: RaftState, to: MemberId, index: number): void => {
  const last = state.held.at(-1);
  if (last?.kind === 'appendReply' && !last.reject && last.to === to && last.term === state.term) {
    if (last.index >= index) return;
    state.held.pop();
  }
  state.held.push({
    kind: 'appendReply',
    from: state.id,
    to,
    term: state.term,
    index,
    reject: false,
    hintIndex: 0,
    hintTerm: 0,
  });
};

/** Tells a leader or candidate of an older term that its time is over; the term alone matters. */
export const sendOwnTerm = (state: RaftState, to: MemberId): void => {
  acknowledge(state, to, 0);
};

export const onAppend = (state: RaftState, message: AppendMessage): void => {
  const { log } = state;
  if (message.prevIndex < log.committed) {
    acknowledge(state, message.from, log.committed);
    return;
  }
  if (log.matches(message.prevIndex, message.prevTerm)) {
    log.merge(message.entries);
    const last = message.prevIndex + message.entries.length;
    state.commitTo(Math.min(message.commit, last));
    acknowledge(state, message.from, last);
    return;
  }
  const hint = log.lastNotAbove(message.prevIndex, message.prevTerm);
  state.held.push({
    kind: 'appendReply',
    from: state.id,
    to: message.from,
    term: state.term,
    index: message.prevIndex,
    reject: true,
    hintIndex: hint.index,
    hintTerm: hint.term,
  });
};

/** Promises nothing, so it may leave immediately: reads must not wait for a disk. */
export const onHeartbeat = (state: RaftState, message: HeartbeatMessage): void => {
  state.commitTo(message.commit);
  state.outbox.push({
    kind: 'heartbeatReply',
    from: state.id,
    to: message.from,
    term: state.term,
    readRound: message.readRound,
  });
};

export const onSnapshot = (state: RaftState, message: SnapshotMessage): void => {
  acknowledge(state, message.from, restore(state, message) ? state.log.lastIndex : state.log.committed);
};

const restore = (state: RaftState, { mark }: SnapshotMessage): boolean => {
  const { log } = state;
  if (mark.index <= log.committed) return false;
  // A state that does not know this member would leave it without a part to play.
  if (!membersOf(mark.configuration).includes(state.id)) return false;
  if (log.matches(mark.index, mark.term)) {
    // The log reaches as far already: learning that it is committed is all there is to gain.
    state.commitTo(mark.index);
    return false;
  }
  // The configuration changes when the state is installed: until then entries from before may be applied.
  log.restore(mark);
  return true;
};

import type { ReadIndexMessage, ReadIndexReply } from './messages.ts';
import { broadcastHeartbeat, nextReadRound } from './replication.ts';
import type { ReadRequest, RaftState } from './state.ts';
import type { ReadRefusal } from './turn.ts';
import { NOBODY, type MemberId } from './types.ts';

/*
 * Linearizable reads without a log entry (thesis 6.4). The leader notes its commit index, then proves by one
 * round of heartbeats that it still led afterwards; anyone who asked reads once that index is applied. All reads
 * of a turn share a round. Rounds are numbered and a reply confirms every round up to its own, so a lost
 * reply costs one heartbeat interval and no memory.
 */

export const askReadIndex = (state: RaftState, context: number): ReadRefusal | undefined => {
  if (state.leader === NOBODY) return 'NoLeader';
  return enqueue(state, { from: state.id, contexts: [context] }) ? undefined : 'TooManyReads';
};

const enqueue = (state: RaftState, request: ReadRequest): boolean => {
  if (state.readsPendingCount + request.contexts.length > state.bounds.readsPendingMax) return false;
  state.readsPendingCount += request.contexts.length;
  state.readsOpen.push(request);
  return true;
};

/** Beyond the bound the question is dropped: the asker asks again with a fresh context. */
export const onReadIndex = (state: RaftState, message: ReadIndexMessage): void => {
  enqueue(state, { from: message.from, contexts: message.contexts });
};

export const onReadIndexReply = (state: RaftState, message: ReadIndexReply): void => {
  for (const context of message.contexts) state.readStates.push({ index: message.index, context });
};

/** The leader's part, once a turn. */
export const flushReads = (state: RaftState): void => {
  // Until an entry of its own term is committed, a leader does not know how far its predecessors committed.
  if (state.readsOpen.length > 0 && state.log.matches(state.log.committed, state.term)) {
    nextReadRound(state);
    state.readBatches.push({
      round: state.readRound,
      index: state.log.committed,
      requests: state.readsOpen.splice(0),
    });
    broadcastHeartbeat(state);
  }
  const confirmed = state.tracker.readRound();
  while (state.readBatches.length > 0 && state.readBatches[0]!.round <= confirmed) {
    const batch = state.readBatches.shift()!;
    for (const request of batch.requests) answer(state, request, batch.index);
  }
};

const answer = (state: RaftState, { from, contexts }: ReadRequest, index: number): void => {
  state.readsPendingCount -= contexts.length;
  if (from !== state.id) {
    state.outbox.push({
      kind: 'readIndexReply',
      from: state.id,
      to: from,
      term: state.term,
      index,
      contexts,
    });
    return;
  }
  for (const context of contexts) state.readStates.push({ index, context });
};

/** The follower's part: all questions of a turn go to the leader in one message. */
export const forwardReads = (state: RaftState, leader: MemberId): void => {
  if (state.readsOpen.length === 0) return;
  const contexts: number[] = [];
  for (const request of state.readsOpen) {
    if (request.from === state.id) contexts.push(...request.contexts);
  }
  state.readsOpen.length = 0;
  state.readsPendingCount = 0;
  if (leader === NOBODY || contexts.length === 0) return;
  state.outbox.push({ kind: 'readIndex', from: state.id, to: leader, term: state.term, contexts });
};

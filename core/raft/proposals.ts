import {
  changeConfiguration,
  decodeConfigChange,
  encodeConfigChange,
  isJoint,
  LEAVE_JOINT,
} from './configuration.ts';
import { ReasonError } from '../base/errors.ts';
import type { Proposal, ProposeMessage } from './messages.ts';
import { advanceCommit, broadcastHeartbeat, nextReadRound } from './replication.ts';
import type { RaftState } from './state.ts';
import type { ProposeRefusal, ProposeResult } from './turn.ts';
import { NOBODY, type Configuration, type LogEntry, type MemberId } from './types.ts';

const refused = (reason: ProposeRefusal): ProposeResult => ({ kind: 'refused', reason });

export const propose = (state: RaftState, proposal: Proposal): ProposeResult => {
  if (state.role !== 'leader') return forward(state, proposal);
  const refusal =
    refusalOf(state, proposal.data.length) ??
    (proposal.kind === 'config' ? configRefusalOf(state, proposal.data) : undefined);
  if (refusal !== undefined) return refused(refusal);
  const { term, index } = state.append(proposal.kind, proposal.data);
  if (proposal.kind === 'config') state.pendingConfigIndex = index;
  return { kind: 'appended', term, index };
};

const refusalOf = (state: RaftState, bytes: number): ProposeRefusal | undefined => {
  if (!state.tracker.isVoter(state.id)) return 'Removed';
  if (state.transferee !== NOBODY) return 'Transferring';
  if (state.log.committed - state.log.applied > state.bounds.applyGapEntriesMax) return 'GapTooLarge';
  // A single proposal above the bound passes when it is alone: it could never pass otherwise.
  const crowded = state.uncommittedBytes > 0 && bytes > 0;
  if (crowded && state.uncommittedBytes + bytes > state.bounds.uncommittedBytesMax)
    return 'UncommittedTooLarge';
  return undefined;
};

/** One change at a time: each starts from a configuration that is applied (thesis 4.1). */
const configRefusalOf = (state: RaftState, data: Uint8Array): ProposeRefusal | undefined => {
  if (state.pendingConfigIndex > state.log.applied || isJoint(state.tracker.configuration))
    return 'ConfigPending';
  try {
    changeConfiguration(state.tracker.configuration, decodeConfigChange(data));
    return undefined;
  } catch (error) {
    if (error instanceof ReasonError) return 'InvalidChange';
    throw error;
  }
};

const forward = (state: RaftState, proposal: Proposal): ProposeResult => {
  if (state.leader === NOBODY) return refused('NoLeader');
  const bytes = state.forwardBytes + proposal.data.length;
  if (state.forwards.length > 0 && bytes > state.bounds.forwardBytesMax) return refused('ForwardTooLarge');
  state.forwardBytes = bytes;
  state.forwards.push(proposal);
  return { kind: 'forwarded', to: state.leader };
};

/** All proposals of a turn go to the leader in one message. */
export const forwardProposals = (state: RaftState, leader: MemberId): void => {
  if (state.forwards.length === 0) return;
  const proposals = state.forwards;
  state.forwards = [];
  state.forwardBytes = 0;
  if (leader === NOBODY) return;
  state.outbox.push({ kind: 'propose', from: state.id, to: leader, term: state.term, proposals });
};

/** Passed on no further: two members that each take the other for the leader would play ping-pong. */
export const onPropose = (state: RaftState, message: ProposeMessage): void => {
  if (state.role !== 'leader') return;
  for (const proposal of message.proposals) propose(state, proposal);
};

/** A joint configuration is left as soon as it is applied, by anyone who leads then. */
export const leaveJointWhenDue = (state: RaftState): void => {
  if (!isJoint(state.tracker.configuration) || state.transferee !== NOBODY) return;
  if (state.pendingConfigIndex > state.log.applied) return;
  state.pendingConfigIndex = state.append('config', encodeConfigChange(LEAVE_JOINT)).index;
};

export const applyConfiguration = (state: RaftState, entry: LogEntry): Configuration => {
  const next = changeConfiguration(state.tracker.configuration, decodeConfigChange(entry.data));
  state.tracker.switchTo(next, state.log.lastIndex);
  if (state.role !== 'leader') return next;
  if (!state.tracker.isVoter(state.id) && state.farewell === undefined) {
    nextReadRound(state);
    state.farewell = { index: entry.index, round: state.readRound };
    broadcastHeartbeat(state);
  }
  // A smaller quorum may make more entries committed.
  advanceCommit(state);
  if (!state.tracker.isVoter(state.transferee)) state.transferee = NOBODY;
  return next;
};

/**
 * A leader that removed itself leads on until a majority of those who stay knows that the change is committed
 * (thesis 4.2.2). Leaving earlier could leave them waiting for the vote of a member that is gone.
 */
export const stepDownWhenDue = (state: RaftState): void => {
  if (state.farewell === undefined || state.role !== 'leader') return;
  if (state.tracker.knownTo(state.farewell)) state.becomeFollower(state.term, NOBODY);
};

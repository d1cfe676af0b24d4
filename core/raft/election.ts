import type { VoteReply, VoteRequest } from './messages.ts';
import { voteResult } from './quorum.ts';
import type { RaftState } from './state.ts';
import { NOBODY } from './types.ts';

export type CampaignKind = 'pre' | 'election' | 'transfer';

/** Stands for election if this member may. A member that has yet to apply a membership change may not. */
export const campaign = (state: RaftState, kind: CampaignKind): void => {
  if (state.role === 'leader' || !state.promotable() || state.log.hasUnappliedConfig()) return;
  startCampaign(state, kind);
};

const startCampaign = (state: RaftState, kind: CampaignKind): void => {
  const pre = kind === 'pre';
  if (pre) state.becomePrecandidate();
  else state.becomeCandidate();
  const term = pre ? state.term + 1 : state.term;
  for (const { id, learner } of state.tracker.all) {
    if (learner || id === state.id) continue;
    // Held, because it says how far the log reaches: a member that lost that tail in a crash must not be
    // elected by the answers.
    state.held.push({
      kind: 'voteRequest',
      from: state.id,
      to: id,
      term,
      pre,
      transfer: kind === 'transfer',
      lastIndex: state.log.lastIndex,
      lastTerm: state.log.lastTerm,
    });
  }
  const own = voteReply(state, { to: state.id, term, pre, reject: false });
  // The own vote counts like any other: once it is on disk. A pre-vote promises nothing and counts immediately.
  if (pre) onVoteReply(state, own);
  else state.held.push(own);
};

/** A leader that is heard must not be unseated by a member that just came back (thesis 4.2.3). */
export const inLease = (state: RaftState): boolean =>
  state.leader !== NOBODY && state.electionElapsedTicks < state.electionTicks;

/** For terms not below the own; a vote request of a higher term has already moved this member there. */
export const onVoteRequest = (state: RaftState, message: VoteRequest): void => {
  const free =
    state.vote === message.from ||
    (state.vote === NOBODY && state.leader === NOBODY) ||
    (message.pre && message.term > state.term);
  const grant = free && state.log.isUpToDate(message.lastIndex, message.lastTerm);
  if (grant && !message.pre) {
    state.electionElapsedTicks = 0;
    state.vote = message.from;
  }
  // A grant names the term that was asked for, a refusal the own, by which a late candidate catches up.
  const term = grant ? message.term : state.term;
  state.held.push(voteReply(state, { to: message.from, term, pre: message.pre, reject: !grant }));
};

export const voteReply = (
  state: RaftState,
  fields: Pick<VoteReply, 'to' | 'term' | 'pre' | 'reject'>,
): VoteReply => ({
  kind: 'voteReply',
  from: state.id,
  to: fields.to,
  term: fields.term,
  pre: fields.pre,
  reject: fields.reject,
  commit: state.log.committed,
  commitTerm: state.log.term(state.log.committed) ?? 0,
});

export const onVoteReply = (state: RaftState, message: VoteReply): void => {
  const expected = message.pre ? 'precandidate' : 'candidate';
  if (state.role !== expected) return;
  // The grant of an earlier round of pre-votes says nothing about this one.
  if (message.pre && !message.reject && message.term !== state.term + 1) return;
  if (message.reject && learnsOfChange(state, message)) {
    state.becomeFollower(state.term, NOBODY);
    return;
  }
  if (!state.votes.has(message.from)) state.votes.set(message.from, !message.reject);
  const result = voteResult(state.tracker.configuration, state.votes);
  if (result === 'lost') state.becomeFollower(state.term, NOBODY);
  if (result !== 'won') return;
  if (message.pre) startCampaign(state, 'election');
  else state.becomeLeader();
};

/** True when a membership change turns out to be committed: it is to be applied before the next attempt. */
const learnsOfChange = (state: RaftState, { commit, commitTerm }: VoteReply): boolean =>
  state.log.matches(commit, commitTerm) && state.commitTo(commit) && state.log.hasUnappliedConfig();

import { NOBODY, type Configuration, type MemberId } from './types.ts';

export type VoteResult = 'won' | 'lost' | 'pending';

/** Enough of `voters` say yes, or too many say no. A set without voters never stands in the way. */
const majorityVote = (voters: readonly MemberId[], votes: ReadonlyMap<MemberId, boolean>): VoteResult => {
  const needed = Math.floor(voters.length / 2) + 1;
  let granted = 0;
  let refused = 0;
  for (const id of voters) {
    const vote = votes.get(id);
    if (vote === true) granted += 1;
    if (vote === false) refused += 1;
  }
  if (voters.length === 0 || granted >= needed) return 'won';
  return voters.length - refused < needed ? 'lost' : 'pending';
};

/** Both halves of a joint configuration have to agree (thesis 4.3). */
export const voteResult = (
  configuration: Configuration,
  votes: ReadonlyMap<MemberId, boolean>,
): VoteResult => {
  const incoming = majorityVote(configuration.voters, votes);
  const outgoing = majorityVote(configuration.votersOutgoing, votes);
  if (incoming === outgoing) return incoming;
  return incoming === 'lost' || outgoing === 'lost' ? 'lost' : 'pending';
};

/**
 * The highest value that a majority of `members` has reached; infinite without members. Runs on every
 * acknowledgement: sorts into `scratch` instead of allocating.
 */
export const majorityValue = <Member>(
  members: readonly Member[],
  valueOf: (member: Member) => number,
  scratch: number[],
): number => {
  const count = members.length;
  if (count === 0) return Infinity;
  for (let i = 0; i < count; i += 1) {
    const value = valueOf(members[i]!);
    let at = i;
    while (at > 0 && scratch[at - 1]! < value) {
      scratch[at] = scratch[at - 1]!;
      at -= 1;
    }
    scratch[at] = value;
  }
  return scratch[count >> 1]!;
};

export const isVoter = (configuration: Configuration, id: MemberId): boolean =>
  id !== NOBODY && (configuration.voters.includes(id) || configuration.votersOutgoing.includes(id));

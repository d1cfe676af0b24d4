import { unreachable } from '../../base/assert.ts';
import type { ConfigChange, MemberChange } from '../../raft/configuration.ts';
import type { MemberId } from '../../raft/types.ts';
import { memberFields, parseJson } from './rows.ts';
import { MembershipError, type Member, type MembershipChange } from './types.ts';

/** The change as Raft carries it: who votes, and our own words about it as context. */
export const toConfigChange = (change: MembershipChange, members: readonly Member[]): ConfigChange => ({
  changes: memberChanges(change, members),
  context: encodeMembershipChange(change),
});

const memberChanges = (change: MembershipChange, members: readonly Member[]): MemberChange[] => {
  switch (change.kind) {
    case 'bootstrap':
      return change.members.map(asChange);
    case 'add':
      return [asChange(change.member)];
    case 'promote':
      return [{ kind: 'addVoter', id: change.id }];
    case 'remove':
      return [{ kind: 'remove', id: change.id }];
    case 'update': {
      // No change of votes, but an entry without changes would mean to leave a joint configuration.
      const member = members.find(({ id }) => id === change.id);
      return [{ kind: member?.isLearner === true ? 'addLearner' : 'addVoter', id: change.id }];
    }
    default:
      return unreachable(change, 'membership change');
  }
};

const asChange = ({ id, isLearner }: Member): MemberChange => ({
  kind: isLearner ? 'addLearner' : 'addVoter',
  id,
});

export const encodeMembershipChange = (change: MembershipChange): string => JSON.stringify(change);

/** Undefined for an entry that only leaves a joint configuration. Throws Malformed. */
export const membershipChangeOf = ({ context }: ConfigChange): MembershipChange | undefined =>
  context === '' ? undefined : decodeMembershipChange(context);

const malformed = (): MembershipError =>
  new MembershipError('Malformed', 'the log entry carries no membership change that this version knows');

export const decodeMembershipChange = (text: string): MembershipChange => {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) throw malformed();
  const { kind, id, member, members, peerURLs } = value as Record<string, unknown>;
  switch (kind) {
    case 'bootstrap':
      if (!Array.isArray(members)) throw malformed();
      return { kind, members: members.map(memberOf) };
    case 'add':
      return { kind, member: memberOf(member) };
    case 'promote':
    case 'remove':
      return { kind, id: idOf(id) };
    case 'update':
      return { kind, id: idOf(id), peerURLs: memberFields({ peerURLs }).peerURLs };
    default:
      throw malformed();
  }
};

const idOf = (value: unknown): MemberId => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0) throw malformed();
  return value;
};

const memberOf = (value: unknown): Member => ({
  ...memberFields(value),
  id: idOf((value as { id?: unknown }).id),
});

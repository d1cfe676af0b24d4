import { NOBODY, type MemberId } from '../../raft/types.ts';
import { idText, type MembershipChange } from '../membership/index.ts';
import type { Leadership } from './raft-driver.ts';

const ROLE_NAMES: Readonly<Record<Leadership['role'], string>> = {
  follower: 'follower',
  precandidate: 'pre-candidate',
  candidate: 'candidate',
  leader: 'leader',
};

/** What etcd's Raft logs when the role or the leader of a member changes, word for word: operators search for it. */
export const leadershipLines = (id: MemberId, before: Leadership, next: Leadership): string[] => {
  const lines: string[] = [];
  if (next.role !== before.role)
    lines.push(`${idText(id)} became ${ROLE_NAMES[next.role]} at term ${next.term}`);
  if (next.leader === before.leader) return lines;
  const node = `raft.node: ${idText(id)}`;
  if (next.leader === NOBODY) lines.push(`${node} lost leader ${idText(before.leader)} at term ${next.term}`);
  else if (before.leader === NOBODY)
    lines.push(`${node} elected leader ${idText(next.leader)} at term ${next.term}`);
  else
    lines.push(
      `${node} changed leader from ${idText(before.leader)} to ${idText(next.leader)} at term ${next.term}`,
    );
  return lines;
};

interface Line {
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What etcd logs when a change of the membership is applied. */
export const membershipLines = (change: MembershipChange): Line[] => {
  switch (change.kind) {
    case 'bootstrap':
      return change.members.map(({ id, peerURLs, isLearner }) => added(id, peerURLs, isLearner));
    case 'add':
      return [added(change.member.id, change.member.peerURLs, change.member.isLearner)];
    case 'promote':
      return [{ text: 'promote member', fields: { 'promoted-member-id': idText(change.id) } }];
    case 'update':
      return [
        {
          text: 'updated member',
          fields: {
            'updated-remote-peer-id': idText(change.id),
            'updated-remote-peer-urls': change.peerURLs,
          },
        },
      ];
    case 'remove':
      return [{ text: 'removed member', fields: { 'removed-remote-peer-id': idText(change.id) } }];
  }
};

const added = (id: MemberId, peerURLs: readonly string[], isLearner: boolean): Line => ({
  text: 'added member',
  fields: {
    'added-peer-id': idText(id),
    'added-peer-peer-urls': peerURLs,
    'added-peer-is-learner': isLearner,
  },
});

import type { ResponseHeaderIn } from '../../proto/index.ts';
import type { Answer, MemberApi } from '../member-api.ts';

/** Who answered, in which term, and the revision the answer is of. */
export const headerAt = (member: MemberApi, revision: number): ResponseHeaderIn => ({
  clusterId: member.clusterId,
  memberId: member.memberId,
  revision,
  raftTerm: member.term(),
});

/** Completes the header of what the member answered. */
export const withHeader = <T extends object>(
  member: MemberApi,
  answer: Answer<T>,
): T & { header: ResponseHeaderIn } => ({
  ...answer,
  header: headerAt(member, answer.header?.revision || member.revision()),
});

import { ResponseHeader } from './range.ts';
import { bool, message, nested, repeated, string, uint64 } from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

export const Member = message('etcdserverpb.Member', {
  ID: uint64(1),
  name: string(2),
  peerURLs: repeated(string(3)),
  clientURLs: repeated(string(4)),
  isLearner: bool(5),
});
export type Member = MessageOut<typeof Member>;
export type MemberIn = MessageIn<typeof Member>;

export const MemberAddRequest = message('etcdserverpb.MemberAddRequest', {
  peerURLs: repeated(string(1)),
  isLearner: bool(2),
});
export type MemberAddRequest = MessageOut<typeof MemberAddRequest>;
export type MemberAddRequestIn = MessageIn<typeof MemberAddRequest>;

export const MemberAddResponse = message('etcdserverpb.MemberAddResponse', {
  header: nested(1, () => ResponseHeader),
  member: nested(2, () => Member),
  members: repeated(nested(3, () => Member)),
});
export type MemberAddResponse = MessageOut<typeof MemberAddResponse>;
export type MemberAddResponseIn = MessageIn<typeof MemberAddResponse>;

export const MemberRemoveRequest = message('etcdserverpb.MemberRemoveRequest', {
  ID: uint64(1),
});
export type MemberRemoveRequest = MessageOut<typeof MemberRemoveRequest>;
export type MemberRemoveRequestIn = MessageIn<typeof MemberRemoveRequest>;

export const MemberRemoveResponse = message('etcdserverpb.MemberRemoveResponse', {
  header: nested(1, () => ResponseHeader),
  members: repeated(nested(2, () => Member)),
});
export type MemberRemoveResponse = MessageOut<typeof MemberRemoveResponse>;
export type MemberRemoveResponseIn = MessageIn<typeof MemberRemoveResponse>;

export const MemberUpdateRequest = message('etcdserverpb.MemberUpdateRequest', {
  ID: uint64(1),
  peerURLs: repeated(string(2)),
});
export type MemberUpdateRequest = MessageOut<typeof MemberUpdateRequest>;
export type MemberUpdateRequestIn = MessageIn<typeof MemberUpdateRequest>;

export const MemberUpdateResponse = message('etcdserverpb.MemberUpdateResponse', {
  header: nested(1, () => ResponseHeader),
  members: repeated(nested(2, () => Member)),
});
export type MemberUpdateResponse = MessageOut<typeof MemberUpdateResponse>;
export type MemberUpdateResponseIn = MessageIn<typeof MemberUpdateResponse>;

export const MemberListRequest = message('etcdserverpb.MemberListRequest', {
  linearizable: bool(1),
});
export type MemberListRequest = MessageOut<typeof MemberListRequest>;
export type MemberListRequestIn = MessageIn<typeof MemberListRequest>;

export const MemberListResponse = message('etcdserverpb.MemberListResponse', {
  header: nested(1, () => ResponseHeader),
  members: repeated(nested(2, () => Member)),
});
export type MemberListResponse = MessageOut<typeof MemberListResponse>;
export type MemberListResponseIn = MessageIn<typeof MemberListResponse>;

export const MemberPromoteRequest = message('etcdserverpb.MemberPromoteRequest', {
  ID: uint64(1),
});
export type MemberPromoteRequest = MessageOut<typeof MemberPromoteRequest>;
export type MemberPromoteRequestIn = MessageIn<typeof MemberPromoteRequest>;

export const MemberPromoteResponse = message('etcdserverpb.MemberPromoteResponse', {
  header: nested(1, () => ResponseHeader),
  members: repeated(nested(2, () => Member)),
});
export type MemberPromoteResponse = MessageOut<typeof MemberPromoteResponse>;
export type MemberPromoteResponseIn = MessageIn<typeof MemberPromoteResponse>;

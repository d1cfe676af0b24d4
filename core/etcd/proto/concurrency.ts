import { KeyValue } from './kv.ts';
import { ResponseHeader } from './range.ts';
import { bytes, int64, int64Number, message, nested } from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

/** v3lock.proto */
export const LockRequest = message('v3lockpb.LockRequest', { name: bytes(1), lease: int64(2) });
export type LockRequest = MessageOut<typeof LockRequest>;

export const LockResponse = message('v3lockpb.LockResponse', {
  header: nested(1, () => ResponseHeader),
  key: bytes(2),
});
export type LockResponseIn = MessageIn<typeof LockResponse>;

export const UnlockRequest = message('v3lockpb.UnlockRequest', { key: bytes(1) });
export type UnlockRequest = MessageOut<typeof UnlockRequest>;

export const UnlockResponse = message('v3lockpb.UnlockResponse', { header: nested(1, () => ResponseHeader) });
export type UnlockResponseIn = MessageIn<typeof UnlockResponse>;

/** v3election.proto */
export const LeaderKey = message('v3electionpb.LeaderKey', {
  name: bytes(1),
  key: bytes(2),
  rev: int64Number(3),
  lease: int64(4),
});
export type LeaderKey = MessageOut<typeof LeaderKey>;

export const CampaignRequest = message('v3electionpb.CampaignRequest', {
  name: bytes(1),
  lease: int64(2),
  value: bytes(3),
});
export type CampaignRequest = MessageOut<typeof CampaignRequest>;

export const CampaignResponse = message('v3electionpb.CampaignResponse', {
  header: nested(1, () => ResponseHeader),
  leader: nested(2, () => LeaderKey),
});
export type CampaignResponseIn = MessageIn<typeof CampaignResponse>;

export const LeaderRequest = message('v3electionpb.LeaderRequest', { name: bytes(1) });
export type LeaderRequest = MessageOut<typeof LeaderRequest>;

export const LeaderResponse = message('v3electionpb.LeaderResponse', {
  header: nested(1, () => ResponseHeader),
  kv: nested(2, () => KeyValue),
});
export type LeaderResponseIn = MessageIn<typeof LeaderResponse>;

export const ResignRequest = message('v3electionpb.ResignRequest', { leader: nested(1, () => LeaderKey) });
export type ResignRequest = MessageOut<typeof ResignRequest>;

export const ResignResponse = message('v3electionpb.ResignResponse', {
  header: nested(1, () => ResponseHeader),
});
export type ResignResponseIn = MessageIn<typeof ResignResponse>;

export const ProclaimRequest = message('v3electionpb.ProclaimRequest', {
  leader: nested(1, () => LeaderKey),
  value: bytes(2),
});
export type ProclaimRequest = MessageOut<typeof ProclaimRequest>;

export const ProclaimResponse = message('v3electionpb.ProclaimResponse', {
  header: nested(1, () => ResponseHeader),
});
export type ProclaimResponseIn = MessageIn<typeof ProclaimResponse>;

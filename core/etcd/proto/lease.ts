import { ResponseHeader } from './range.ts';
import { bool, bytes, int64, int64Number, message, nested, repeated, string } from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

export const LeaseGrantRequest = message('etcdserverpb.LeaseGrantRequest', {
  TTL: int64Number(1),
  ID: int64(2),
});
export type LeaseGrantRequest = MessageOut<typeof LeaseGrantRequest>;
export type LeaseGrantRequestIn = MessageIn<typeof LeaseGrantRequest>;

export const LeaseGrantResponse = message('etcdserverpb.LeaseGrantResponse', {
  header: nested(1, () => ResponseHeader),
  ID: int64(2),
  TTL: int64Number(3),
  error: string(4),
});
export type LeaseGrantResponse = MessageOut<typeof LeaseGrantResponse>;
export type LeaseGrantResponseIn = MessageIn<typeof LeaseGrantResponse>;

export const LeaseRevokeRequest = message('etcdserverpb.LeaseRevokeRequest', {
  ID: int64(1),
});
export type LeaseRevokeRequest = MessageOut<typeof LeaseRevokeRequest>;
export type LeaseRevokeRequestIn = MessageIn<typeof LeaseRevokeRequest>;

export const LeaseRevokeResponse = message('etcdserverpb.LeaseRevokeResponse', {
  header: nested(1, () => ResponseHeader),
});
export type LeaseRevokeResponse = MessageOut<typeof LeaseRevokeResponse>;
export type LeaseRevokeResponseIn = MessageIn<typeof LeaseRevokeResponse>;

export const LeaseCheckpoint = message('etcdserverpb.LeaseCheckpoint', {
  ID: int64(1),
  remainingTTL: int64Number(2),
});
export type LeaseCheckpoint = MessageOut<typeof LeaseCheckpoint>;
export type LeaseCheckpointIn = MessageIn<typeof LeaseCheckpoint>;

export const LeaseCheckpointRequest = message('etcdserverpb.LeaseCheckpointRequest', {
  checkpoints: repeated(nested(1, () => LeaseCheckpoint)),
});
export type LeaseCheckpointRequest = MessageOut<typeof LeaseCheckpointRequest>;
export type LeaseCheckpointRequestIn = MessageIn<typeof LeaseCheckpointRequest>;

export const LeaseCheckpointResponse = message('etcdserverpb.LeaseCheckpointResponse', {
  header: nested(1, () => ResponseHeader),
});
export type LeaseCheckpointResponse = MessageOut<typeof LeaseCheckpointResponse>;
export type LeaseCheckpointResponseIn = MessageIn<typeof LeaseCheckpointResponse>;

export const LeaseKeepAliveRequest = message('etcdserverpb.LeaseKeepAliveRequest', {
  ID: int64(1),
});
export type LeaseKeepAliveRequest = MessageOut<typeof LeaseKeepAliveRequest>;
export type LeaseKeepAliveRequestIn = MessageIn<typeof LeaseKeepAliveRequest>;

export const LeaseKeepAliveResponse = message('etcdserverpb.LeaseKeepAliveResponse', {
  header: nested(1, () => ResponseHeader),
  ID: int64(2),
  TTL: int64Number(3),
});
export type LeaseKeepAliveResponse = MessageOut<typeof LeaseKeepAliveResponse>;
export type LeaseKeepAliveResponseIn = MessageIn<typeof LeaseKeepAliveResponse>;

export const LeaseTimeToLiveRequest = message('etcdserverpb.LeaseTimeToLiveRequest', {
  ID: int64(1),
  keys: bool(2),
});
export type LeaseTimeToLiveRequest = MessageOut<typeof LeaseTimeToLiveRequest>;
export type LeaseTimeToLiveRequestIn = MessageIn<typeof LeaseTimeToLiveRequest>;

export const LeaseTimeToLiveResponse = message('etcdserverpb.LeaseTimeToLiveResponse', {
  header: nested(1, () => ResponseHeader),
  ID: int64(2),
  TTL: int64Number(3),
  grantedTTL: int64Number(4),
  keys: repeated(bytes(5)),
});
export type LeaseTimeToLiveResponse = MessageOut<typeof LeaseTimeToLiveResponse>;
export type LeaseTimeToLiveResponseIn = MessageIn<typeof LeaseTimeToLiveResponse>;

export const LeaseLeasesRequest = message('etcdserverpb.LeaseLeasesRequest', {});
export type LeaseLeasesRequest = MessageOut<typeof LeaseLeasesRequest>;
export type LeaseLeasesRequestIn = MessageIn<typeof LeaseLeasesRequest>;

export const LeaseStatus = message('etcdserverpb.LeaseStatus', {
  ID: int64(1),
});
export type LeaseStatus = MessageOut<typeof LeaseStatus>;
export type LeaseStatusIn = MessageIn<typeof LeaseStatus>;

export const LeaseLeasesResponse = message('etcdserverpb.LeaseLeasesResponse', {
  header: nested(1, () => ResponseHeader),
  leases: repeated(nested(2, () => LeaseStatus)),
});
export type LeaseLeasesResponse = MessageOut<typeof LeaseLeasesResponse>;
export type LeaseLeasesResponseIn = MessageIn<typeof LeaseLeasesResponse>;

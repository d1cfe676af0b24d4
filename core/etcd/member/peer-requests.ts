import { ReasonError } from '../../base/errors.ts';
import {
  decodeMembershipChange,
  encodeMembershipChange,
  type ClusterId,
  type Member,
} from '../membership/index.ts';

/** What members ask each other besides Raft's messages. */
export const PEER_CLUSTER_INFO = 'cluster-info';
export const PEER_LEASE_RENEW = 'lease-renew';
export const PEER_LEASE_TTL = 'lease-ttl';
export const PEER_HASH_KV = 'hash-kv';
export const PEER_PROMOTE = 'promote';

export interface ClusterInfo {
  readonly clusterId: ClusterId;
  readonly members: readonly Member[];
}

const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

const decode = (bytes: Uint8Array): Record<string, unknown> => {
  const value: unknown = JSON.parse(Buffer.from(bytes).toString());
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw malformed();
};

const malformed = (): ReasonError =>
  new ReasonError('Malformed', 'a peer sent a message that is not understood');

const bigintOf = (value: unknown): bigint => {
  if (typeof value !== 'string' || !/^-?\d+$/.test(value)) throw malformed();
  return BigInt(value);
};
const numberOf = (value: unknown): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw malformed();
  return value;
};

export const encodeClusterInfo = (info: ClusterInfo): Uint8Array =>
  encode({
    clusterId: info.clusterId.toString(),
    members: encodeMembershipChange({ kind: 'bootstrap', members: info.members }),
  });

export const decodeClusterInfo = (bytes: Uint8Array): ClusterInfo => {
  const { clusterId, members } = decode(bytes);
  if (typeof members !== 'string') throw malformed();
  const change = decodeMembershipChange(members);
  if (change.kind !== 'bootstrap') throw malformed();
  return { clusterId: bigintOf(clusterId), members: change.members };
};

export const encodeLeaseId = (id: bigint): Uint8Array => encode({ id: id.toString() });
export const decodeLeaseId = (bytes: Uint8Array): bigint => bigintOf(decode(bytes)['id']);

export interface LeaseTime {
  readonly ttlSeconds: number;
  readonly grantedTtlSeconds: number;
}
export const encodeLeaseTime = (time: LeaseTime): Uint8Array => encode(time);
export const decodeLeaseTime = (bytes: Uint8Array): LeaseTime => {
  const { ttlSeconds, grantedTtlSeconds } = decode(bytes);
  return { ttlSeconds: numberOf(ttlSeconds), grantedTtlSeconds: numberOf(grantedTtlSeconds) };
};

export interface PeerHash {
  readonly hash: number;
  readonly revision: number;
  readonly compactRevision: number;
}
export const encodeHashRequest = (revision: number): Uint8Array => encode({ revision });
export const decodeHashRequest = (bytes: Uint8Array): number => numberOf(decode(bytes)['revision']);
export const encodePeerHash = (hash: PeerHash): Uint8Array => encode(hash);
export const decodePeerHash = (bytes: Uint8Array): PeerHash => {
  const { hash, revision, compactRevision } = decode(bytes);
  return { hash: numberOf(hash), revision: numberOf(revision), compactRevision: numberOf(compactRevision) };
};

export const encodeMemberId = (id: number): Uint8Array => encode({ id });
export const decodeMemberId = (bytes: Uint8Array): number => numberOf(decode(bytes)['id']);

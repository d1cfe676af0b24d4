import { createHash } from 'node:crypto';
import { NOBODY, type MemberId } from '../../raft/types.ts';
import { MembershipError, type ClusterId } from './types.ts';

const ID_BYTES = 8;
const ID_BITS = 53;

const firstUint64 = (data: Uint8Array): bigint => createHash('sha1').update(data).digest().readBigUInt64BE(0);

/**
 * etcd's id of a member, cut to 53 bits: a hash of its peer URLs and the cluster's token, so that all first
 * members work out the same ids from the same flags. A member that is added later mixes in the time, because
 * the id of a removed member with the same URLs must never come back.
 */
export const memberIdOf = (peerURLs: readonly string[], token: string, nowSeconds?: number): MemberId => {
  const text = `${[...peerURLs].sort().join('')}${token}${nowSeconds === undefined ? '' : Math.floor(nowSeconds)}`;
  const id = Number(BigInt.asUintN(ID_BITS, firstUint64(Buffer.from(text))));
  if (id === NOBODY) throw new MembershipError('BadCluster', 'cannot use 0 as member id; change a peer URL');
  return id;
};

/** A hash of the first members' ids; it never changes afterwards. */
export const clusterIdOf = (ids: readonly MemberId[]): ClusterId => {
  const data = Buffer.alloc(ID_BYTES * ids.length);
  [...ids].sort((a, b) => a - b).forEach((id, i) => data.writeBigUInt64BE(BigInt(id), i * ID_BYTES));
  return firstUint64(data);
};

/** As etcd prints ids: hex without padding. */
export const idText = (id: MemberId | ClusterId): string => id.toString(16);

/** The id that a client means; No one when it is none that a member of ours can have. */
export const memberIdFromUint64 = (id: bigint): MemberId =>
  id <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(id) : NOBODY;

const HEX_ID = /^[0-9a-f]{1,16}$/;

export const parseMemberId = (text: string): MemberId => {
  const id = HEX_ID.test(text) ? memberIdFromUint64(BigInt(`0x${text}`)) : NOBODY;
  if (id === NOBODY) {
    throw new MembershipError(
      'Malformed',
      `${text} is no member id of ours: ids have at most ${ID_BITS} bits; restore data of another etcd by a snapshot`,
    );
  }
  return id;
};

import { malformed } from './failure.ts';

/** etcd's buckets, sorted by name. Source: etcd, server/storage/schema/bucket.go. */
export const ETCD_BUCKETS = [
  'alarm',
  'auth',
  'authRoles',
  'authUsers',
  'cluster',
  'key',
  'lease',
  'members',
  'members_removed',
  'meta',
] as const;
export type EtcdBucket = (typeof ETCD_BUCKETS)[number];

export const META_KEYS = {
  consistentIndex: 'consistent_index',
  term: 'term',
  confState: 'confState',
  scheduledCompact: 'scheduledCompactRev',
  finishedCompact: 'finishedCompactRev',
  storageVersion: 'storageVersion',
} as const;

const REVISION_BYTES = 17;
const MARKED_REVISION_BYTES = 18;
const SEPARATOR = 0x5f;
const TOMBSTONE = 0x74;
const SUB_AT = 9;

export interface Revision {
  readonly main: number;
  readonly sub: number;
}

export interface RevisionKey extends Revision {
  readonly isTombstone: boolean;
}

/** Key in bucket `key`: main revision, '_', sub revision, both 8 bytes big endian, and 't' if it deletes. */
export const encodeRevisionKey = (revision: Revision): Buffer => {
  const key = Buffer.alloc(REVISION_BYTES);
  key.writeBigInt64BE(BigInt(revision.main), 0);
  key[8] = SEPARATOR;
  key.writeBigInt64BE(BigInt(revision.sub), SUB_AT);
  return key;
};

const readInt32 = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;

const readInt64 = (bytes: Uint8Array, at: number): number =>
  readInt32(bytes, at) * 2 ** 32 + (readInt32(bytes, at + 4) >>> 0);

export const decodeRevisionKey = (key: Uint8Array, where = 'bucket key'): RevisionKey => {
  const hex = () => Buffer.from(key.subarray(0, MARKED_REVISION_BYTES + 1)).toString('hex');
  if (key.length !== REVISION_BYTES && key.length !== MARKED_REVISION_BYTES) {
    throw malformed(where, `revision ${hex()} has ${key.length} bytes`);
  }
  if (key[8] !== SEPARATOR) throw malformed(where, `revision ${hex()} has no separator`);
  const main = readInt64(key, 0);
  const sub = readInt64(key, SUB_AT);
  if (main < 0 || sub < 0) throw malformed(where, `revision ${hex()} is negative`);
  if (main > Number.MAX_SAFE_INTEGER || sub > Number.MAX_SAFE_INTEGER) {
    throw malformed(where, `revision ${hex()} is larger than 2^53`);
  }
  return {
    main,
    sub,
    isTombstone: key.length === MARKED_REVISION_BYTES && key[REVISION_BYTES] === TOMBSTONE,
  };
};

export const encodeUint64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

/** Every `Member` of the membership is one. */
export interface SnapshotMember {
  readonly id: number | bigint;
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs?: readonly string[];
  readonly isLearner?: boolean;
}

/** The key of a member: its id in hex, without leading zeros, as Go's strconv prints it. */
export const memberKey = (id: number | bigint): Buffer => Buffer.from(id.toString(16));

/** Go's JSON of membership.Member. Ids exceed what a JavaScript number holds, so they are put in as text. */
export const encodeMember = (member: SnapshotMember): Buffer => {
  const { id, name, peerURLs, clientURLs = [], isLearner = false } = member;
  const rest = {
    peerURLs,
    ...(isLearner ? { isLearner } : {}),
    ...(name === '' ? {} : { name }),
    ...(clientURLs.length === 0 ? {} : { clientURLs }),
  };
  return Buffer.from(`{"id":${id},${JSON.stringify(rest).slice(1)}`);
};

/** Go's JSON of raftpb.ConfState, which etcd keeps in bucket `meta` since 3.5. */
export const encodeConfState = (members: readonly SnapshotMember[]): Buffer => {
  const ids = (learners: boolean) =>
    members
      .filter(({ isLearner = false }) => isLearner === learners)
      .map(({ id }) => id)
      .sort((a, b) => (a < b ? -1 : 1))
      .join(',');
  const learners = ids(true);
  return Buffer.from(
    `{"voters":[${ids(false)}],${learners === '' ? '' : `"learners":[${learners}],`}"auto_leave":false}`,
  );
};

import { ReasonError } from '../../base/errors.ts';
import type { MemberId } from '../../raft/types.ts';
import type { Identity } from '../auth/index.ts';

/**
 * What a normal log entry asks of the state machine. The payload is the protobuf of the client's request,
 * as it came off the wire where nothing had to be filled in. Numbers are on disk: never reuse one.
 */
export const REQUEST_KINDS = {
  put: 1,
  deleteRange: 2,
  txn: 3,
  compact: 4,
  leaseGrant: 5,
  leaseRevoke: 6,
  leaseCheckpoint: 7,
  alarm: 8,
  memberAttributes: 9,
  clusterVersion: 10,
  authEnable: 11,
  authDisable: 12,
  authenticate: 13,
  userAdd: 14,
  userDelete: 15,
  userChangePassword: 16,
  userGrantRole: 17,
  userRevokeRole: 18,
  roleAdd: 19,
  roleDelete: 20,
  roleGrantPermission: 21,
  roleRevokePermission: 22,
} as const;
export type RequestKind = keyof typeof REQUEST_KINDS;

const KIND_BY_NUMBER = new Map<number, RequestKind>(
  Object.entries(REQUEST_KINDS).map(([kind, number]) => [number, kind as RequestKind]),
);

/** Who waits for the outcome: a member, which start of it, and which of its requests. */
export interface Proposer {
  readonly member: MemberId;
  /** Random for each start, so that entries from before a restart answer no one. */
  readonly boot: number;
  readonly sequence: number;
}

export interface RequestEntry extends Proposer {
  readonly kind: RequestKind;
  readonly payload: Uint8Array;
  /** On whose behalf; absent while auth is off, and for what a member asks for on its own. */
  readonly identity?: Identity | undefined;
}

// kind u8, member u64 (big endian), boot u32, sequence u32; with an identity: auth revision u64, length u16, name
const HEADER_BYTES = 17;
const HIGH = 2 ** 32;
/** Set in the kind: an identity stands before the payload. */
const WITH_IDENTITY = 0x80;
const IDENTITY_BYTES = 10;

export const encodeRequestEntry = (entry: RequestEntry): Uint8Array => {
  const identity = entry.identity === undefined ? NOTHING : encodeIdentity(entry.identity);
  const data = Buffer.allocUnsafe(HEADER_BYTES + identity.length + entry.payload.byteLength);
  data[0] = REQUEST_KINDS[entry.kind] | (identity.length > 0 ? WITH_IDENTITY : 0);
  data.writeUInt32BE(Math.floor(entry.member / HIGH), 1);
  data.writeUInt32BE(entry.member % HIGH, 5);
  data.writeUInt32BE(entry.boot, 9);
  data.writeUInt32BE(entry.sequence, 13);
  if (identity.length > 0) data.set(identity, HEADER_BYTES);
  data.set(entry.payload, HEADER_BYTES + identity.length);
  return data;
};

export const decodeRequestEntry = (bytes: Uint8Array): RequestEntry => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = KIND_BY_NUMBER.get((data[0] ?? 0) & ~WITH_IDENTITY);
  if (data.length < HEADER_BYTES || kind === undefined)
    throw new ReasonError(
      'UnknownEntry',
      `the log holds an entry of kind ${data[0]} that this version does not know; start the version that wrote it`,
    );
  return {
    kind,
    member: data.readUInt32BE(1) * HIGH + data.readUInt32BE(5),
    boot: data.readUInt32BE(9),
    sequence: data.readUInt32BE(13),
    ...((data[0]! & WITH_IDENTITY) === 0
      ? { payload: data.subarray(HEADER_BYTES) }
      : splitIdentity(data.subarray(HEADER_BYTES))),
  };
};

const NOTHING = Buffer.alloc(0);

const encodeIdentity = ({ username, revision }: Identity): Buffer => {
  const name = Buffer.from(username);
  const head = Buffer.alloc(IDENTITY_BYTES);
  head.writeBigUInt64BE(BigInt(revision), 0);
  head.writeUInt16BE(name.length, 8);
  return Buffer.concat([head, name]);
};

const splitIdentity = (data: Buffer): { identity: Identity; payload: Buffer } => {
  const end = IDENTITY_BYTES + data.readUInt16BE(8);
  return {
    identity: {
      username: data.toString('utf8', IDENTITY_BYTES, end),
      revision: Number(data.readBigUInt64BE(0)),
    },
    payload: data.subarray(end),
  };
};

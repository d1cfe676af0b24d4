import { ReasonError } from '../../base/errors.ts';
import type { MemberId } from '../../raft/types.ts';

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
} as const;
export type RequestKind = keyof typeof REQUEST_KINDS;

const KIND_BY_NUMBER = new Map<number, RequestKind>(
  Object.entries(REQUEST_KINDS).map(([kind, number]) => [number, kind as RequestKind]),
);

/** Who waits for the outcome: a member, which start of it, and which of its requests. */
export interface Proposer {
  readonly member: MemberId;
  /** Random for each start, so that entries from before a restart answer nobody. */
  readonly boot: number;
  readonly sequence: number;
}

export interface RequestEntry extends Proposer {
  readonly kind: RequestKind;
  readonly payload: Uint8Array;
}

// kind u8, member u64 (big endian), boot u32, sequence u32
const HEADER_BYTES = 17;
const HIGH = 2 ** 32;

export const encodeRequestEntry = (entry: RequestEntry): Uint8Array => {
  const data = Buffer.allocUnsafe(HEADER_BYTES + entry.payload.byteLength);
  data[0] = REQUEST_KINDS[entry.kind];
  data.writeUInt32BE(Math.floor(entry.member / HIGH), 1);
  data.writeUInt32BE(entry.member % HIGH, 5);
  data.writeUInt32BE(entry.boot, 9);
  data.writeUInt32BE(entry.sequence, 13);
  data.set(entry.payload, HEADER_BYTES);
  return data;
};

export const decodeRequestEntry = (bytes: Uint8Array): RequestEntry => {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = KIND_BY_NUMBER.get(data[0] ?? 0);
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
    payload: data.subarray(HEADER_BYTES),
  };
};

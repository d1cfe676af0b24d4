const KIB = 1024;
const MIB = 1024 * KIB;

/** Every queue of the core ends at one of these. */
export interface RaftBounds {
  /** Payload of entries in one append message; a larger single entry travels alone. */
  readonly appendBytesMax: number;
  /** Appends on their way to one peer and not yet acknowledged. */
  readonly inflightMessagesMax: number;
  readonly inflightBytesMax: number;
  /** Payload that the leader accepted and has not committed; more is refused. */
  readonly uncommittedBytesMax: number;
  /** Committed and not yet applied entries beyond which proposals are refused. */
  readonly applyGapEntriesMax: number;
  /** Entries handed out to apply and not yet reported as applied; paging and back pressure in one. */
  readonly applyingBytesMax: number;
  /** Reads that wait for a round, and contexts that wait to be forwarded. */
  readonly readsPendingMax: number;
  /** Proposals of a follower that wait for the next turn to go to the leader. */
  readonly forwardBytesMax: number;
}

export const DEFAULT_BOUNDS: RaftBounds = {
  appendBytesMax: MIB,
  inflightMessagesMax: 256,
  inflightBytesMax: 16 * MIB,
  uncommittedBytesMax: 64 * MIB,
  applyGapEntriesMax: 5000,
  applyingBytesMax: 4 * MIB,
  readsPendingMax: 65_536,
  forwardBytesMax: 16 * MIB,
};

/** What an entry costs besides its payload, so that a page of empty entries is finite too. */
export const ENTRY_OVERHEAD_BYTES = 32;

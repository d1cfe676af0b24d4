import { ReasonError } from '../../base/errors.ts';

/** Everything that can be wrong with a snapshot, or with what a caller wants written into one. */
export type SnapshotReason =
  /** Neither meta page is one of bbolt's: not a database, or its first pages are destroyed. */
  | 'NotADatabase'
  /** The file ends before the pages that its meta page promises. */
  | 'Truncated'
  /** A page, element or value contradicts the format; the message says which and where. */
  | 'Malformed'
  /** No sha256 trailer: a database copied from a data folder rather than saved as a snapshot. */
  | 'HashMissing'
  /** The sha256 trailer does not match the content. */
  | 'HashMismatch'
  | 'NoSuchBucket'
  /** What should be written is not sorted, or comes back to a bucket that was already finished. */
  | 'OutOfOrder'
  /** A key or value that bbolt cannot hold. */
  | 'InvalidEntry'
  /** The source gave other entries in the second pass than in the first. */
  | 'SourceChanged'
  | 'InvalidOptions';

export type SnapshotError = ReasonError<SnapshotReason>;

export const failure = (reason: SnapshotReason, message: string, cause?: unknown): SnapshotError =>
  new ReasonError(reason, message, cause === undefined ? undefined : { cause });

export const malformed = (where: string, what: string): SnapshotError =>
  failure('Malformed', `${where}: ${what}`);

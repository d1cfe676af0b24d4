import { ReasonError } from '../../base/errors.ts';
import { EtcdClientError } from './etcd-client/index.ts';

/** What the registry is told; closed. Each has its place among the Status reasons of the API. */
export type StorageReason =
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  /** 410: the revision is compacted, or older than what the watch cache can prove. */
  | 'Expired'
  /** 504 with a cause ResourceVersionTooLarge: the revision has not been reached yet. */
  | 'ResourceVersionTooLarge'
  | 'InvalidContinue'
  /** 413 */
  | 'TooLarge'
  /** 429 */
  | 'TooManyRequests'
  | 'NoSpace'
  /** 504 */
  | 'Timeout'
  /** 503 */
  | 'Unavailable'
  | 'Internal';

export class StorageError extends ReasonError<StorageReason> {
  override readonly name = 'StorageError';
  readonly key: string | undefined;
  /** On Expired of a paged list: continues at what is there now, without the promise of one revision. */
  readonly continueToken: string | undefined;
  /** False only when the write may have happened although no answer came. */
  readonly outcomeKnown: boolean;

  constructor(
    reason: StorageReason,
    message: string,
    options: {
      readonly cause?: unknown;
      readonly key?: string | undefined;
      readonly continueToken?: string | undefined;
      readonly outcomeKnown?: boolean;
    } = {},
  ) {
    super(reason, message, options);
    this.key = options.key;
    this.continueToken = options.continueToken;
    this.outcomeKnown = options.outcomeKnown ?? true;
  }
}

/** Upstream's words for a watch or a read that begins too early. */
export const tooOld = (revision: number, oldest: number): StorageError =>
  new StorageError('Expired', `too old resource version: ${revision} (${oldest})`);

/** Upstream's words for a read that is ahead of what is known. */
export const tooLarge = (revision: number, current: number): StorageError =>
  new StorageError('ResourceVersionTooLarge', `Too large resource version: ${revision}, current: ${current}`);

const OF_CLIENT: Readonly<Partial<Record<EtcdClientError['reason'], StorageReason>>> = {
  Compacted: 'Expired',
  FutureRevision: 'ResourceVersionTooLarge',
  TooManyRequests: 'TooManyRequests',
  NoSpace: 'NoSpace',
  RequestTooLarge: 'TooLarge',
  NoLeader: 'Unavailable',
  Timeout: 'Timeout',
  Unavailable: 'Unavailable',
  DeadlineExceeded: 'Timeout',
  Cancelled: 'Timeout',
  Closed: 'Unavailable',
};

const EXPIRED_TEXT = 'The resourceVersion for the provided watch is too old.';

/** What the client could not do, in the words of the store. Anything else is passed on as it is. */
export const fromClient = (error: unknown, write: boolean, key?: string): unknown => {
  if (!(error instanceof EtcdClientError)) return error;
  const reason = OF_CLIENT[error.reason] ?? 'Internal';
  const text = reason === 'Expired' ? EXPIRED_TEXT : error.message;
  return new StorageError(reason, text, { cause: error, key, outcomeKnown: !write || error.untouched });
};

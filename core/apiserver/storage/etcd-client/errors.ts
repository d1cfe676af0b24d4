import { ReasonError } from '../../../base/errors.ts';

/** What a call to etcd fails with; closed. */
export type EtcdClientReason =
  | 'Compacted'
  | 'FutureRevision'
  | 'TooManyRequests'
  | 'NoSpace'
  | 'RequestTooLarge'
  | 'NoLeader'
  | 'Timeout'
  | 'Unavailable'
  | 'DeadlineExceeded'
  | 'LeaseNotFound'
  | 'LeaseExists'
  | 'PermissionDenied'
  | 'InvalidRequest'
  | 'Cancelled'
  | 'Closed'
  | 'Internal';

export class EtcdClientError extends ReasonError<EtcdClientReason> {
  override readonly name = 'EtcdClientError';
  /** The server has certainly not acted on the call. When false, a write may or may not have happened. */
  readonly untouched: boolean;

  constructor(
    reason: EtcdClientReason,
    message: string,
    options: { readonly untouched?: boolean; readonly cause?: unknown } = {},
  ) {
    super(reason, message, options);
    this.untouched = options.untouched ?? false;
  }
}

/** https://grpc.io/docs/guides/status-codes/ */
export const GRPC_CODE = {
  OK: 0,
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  Unauthenticated: 16,
} as const;

/** The texts are etcd's (api/v3rpc/rpctypes): several failures share a code, and the text alone tells them apart. */
const BY_TEXT: Readonly<Record<string, { reason: EtcdClientReason; refused?: true }>> = {
  'etcdserver: mvcc: required revision has been compacted': { reason: 'Compacted', refused: true },
  'etcdserver: mvcc: required revision is a future revision': { reason: 'FutureRevision', refused: true },
  'etcdserver: mvcc: database space exceeded': { reason: 'NoSpace', refused: true },
  'etcdserver: too many requests': { reason: 'TooManyRequests', refused: true },
  'etcdserver: request is too large': { reason: 'RequestTooLarge', refused: true },
  'etcdserver: no leader': { reason: 'NoLeader' },
  'etcdserver: requested lease not found': { reason: 'LeaseNotFound', refused: true },
  'etcdserver: lease already exists': { reason: 'LeaseExists', refused: true },
  'etcdserver: request timed out': { reason: 'Timeout' },
  'etcdserver: request timed out, possibly due to previous leader failure': { reason: 'Timeout' },
  'etcdserver: request timed out, possibly due to connection lost': { reason: 'Timeout' },
  'etcdserver: request timed out, waiting for the applied index took too long': { reason: 'Timeout' },
};

const BY_CODE: Readonly<Record<number, EtcdClientReason>> = {
  [GRPC_CODE.Canceled]: 'Cancelled',
  [GRPC_CODE.InvalidArgument]: 'InvalidRequest',
  [GRPC_CODE.DeadlineExceeded]: 'DeadlineExceeded',
  [GRPC_CODE.PermissionDenied]: 'PermissionDenied',
  [GRPC_CODE.FailedPrecondition]: 'InvalidRequest',
  [GRPC_CODE.OutOfRange]: 'InvalidRequest',
  [GRPC_CODE.Unavailable]: 'Unavailable',
  [GRPC_CODE.Unauthenticated]: 'PermissionDenied',
};

/** grpc-go refuses what is above its limit before etcd sees it. */
const MESSAGE_TOO_LARGE = /received message larger than max|trying to send message larger than max/;

export const errorOfStatus = (code: number, text: string, untouched = false): EtcdClientError => {
  const known = BY_TEXT[text];
  if (known !== undefined)
    return new EtcdClientError(known.reason, text, { untouched: untouched || known.refused === true });
  if (code === GRPC_CODE.ResourceExhausted)
    return MESSAGE_TOO_LARGE.test(text)
      ? new EtcdClientError('RequestTooLarge', text, { untouched: true })
      : new EtcdClientError('TooManyRequests', text, { untouched });
  return new EtcdClientError(BY_CODE[code] ?? 'Internal', text, { untouched });
};

/** The next member may well answer what this one could not. */
export const isTransient = (error: unknown): error is EtcdClientError =>
  error instanceof EtcdClientError &&
  (error.reason === 'Unavailable' || error.reason === 'NoLeader' || error.reason === 'Timeout');

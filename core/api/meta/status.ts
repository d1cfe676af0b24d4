import { ReasonError } from '../../base/errors.ts';
import type { ListMeta } from './object-meta.ts';

/** Why a request failed, as `metav1.StatusReason` has it. */
export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StoreReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable';

/** One thing that is wrong; `reason` is upstream's cause type, such as FieldValueRequired. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The object that answers a failed request, and a delete. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: ListMeta;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: StatusReason;
  details?: StatusDetails;
  code: number;
}

export interface StatusErrorOptions {
  readonly code: number;
  readonly details?: StatusDetails;
  readonly cause?: unknown;
}

/** A failure that has an HTTP code and is answered as a `Status`. */
export class StatusError extends ReasonError<StatusReason> {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly details: StatusDetails | undefined;

  constructor(reason: StatusReason, message: string, options: StatusErrorOptions) {
    super(reason, message, { cause: options.cause });
    this.code = options.code;
    this.details = options.details && withoutEmpty(options.details);
  }

  get status(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details && { details: this.details }),
      code: this.code,
    };
  }
}

/** Upstream leaves out what is empty, so clients may take presence for meaning. */
const withoutEmpty = (details: StatusDetails): StatusDetails =>
  Object.fromEntries(
    Object.entries(details).filter(
      ([, value]) =>
        value !== undefined && value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0),
    ),
  );

export const successStatus = (details?: StatusDetails): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  ...(details && { details: withoutEmpty(details) }),
  code: 200,
});

const REASONS = new Set<string>([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StoreReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
]);

const REASON_OF_CODE: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The error that a client raises for a `Status` it was answered; an unknown reason is read off the code. */
export const statusErrorFrom = (status: Partial<Status>, code: number = status.code ?? 500): StatusError => {
  const known = status.reason !== undefined && REASONS.has(status.reason);
  const reason = known ? status.reason! : (REASON_OF_CODE[code] ?? '');
  return new StatusError(reason, status.message ?? `the server responded with the status code ${code}`, {
    code,
    ...(status.details && { details: status.details }),
  });
};

export const isStatusError = (error: unknown): error is StatusError => error instanceof StatusError;
export const hasStatusReason = (error: unknown, ...reasons: readonly StatusReason[]): error is StatusError =>
  error instanceof StatusError && reasons.includes(error.reason);

export const isNotFound = (error: unknown): error is StatusError => hasStatusReason(error, 'NotFound');
export const isAlreadyExists = (error: unknown): error is StatusError =>
  hasStatusReason(error, 'AlreadyExists');
export const isConflict = (error: unknown): error is StatusError => hasStatusReason(error, 'Conflict');
export const isInvalid = (error: unknown): error is StatusError => hasStatusReason(error, 'Invalid');
export const isForbidden = (error: unknown): error is StatusError => hasStatusReason(error, 'Forbidden');
/** The resource version asked for is compacted, or a continue token is too old: list again. */
export const isExpired = (error: unknown): error is StatusError => hasStatusReason(error, 'Expired', 'Gone');
export const isTooManyRequests = (error: unknown): error is StatusError =>
  hasStatusReason(error, 'TooManyRequests');

import {
  alreadyExists,
  badRequest,
  conflict,
  internalError,
  notFound,
  requestEntityTooLarge,
  resourceExpired,
  serverTimeout,
  StatusError,
  timeout,
  tooManyRequests,
  type GroupResource,
  type Status,
} from '../../../api/meta/index.ts';
import { StorageError } from '../../storage/errors.ts';

const RETRY_SECONDS = 2;
const TOO_LARGE_RETRY_SECONDS = 1;

/** A list that cannot continue at its revision; the token continues at what is there now. */
class ExpiredListError extends StatusError {
  readonly #continueToken: string;

  constructor(message: string, continueToken: string, cause: unknown) {
    super('Expired', message, { code: 410, cause });
    this.#continueToken = continueToken;
  }

  override get status(): Status {
    return { ...super.status, metadata: { continue: this.#continueToken } };
  }
}

export type StorageOperation = 'get' | 'list' | 'watch' | 'create' | 'update' | 'delete';

/** What the store could not do, as the API says it. Anything else is passed on as it is. */
export const fromStorage = (
  error: unknown,
  operation: StorageOperation,
  resource: GroupResource,
  name = '',
): unknown => {
  if (!(error instanceof StorageError)) return error;
  // Clients repeat whatever they are told when to try again, and a write that did happen would then meet itself.
  const retrySeconds = error.outcomeKnown ? RETRY_SECONDS : 0;
  switch (error.reason) {
    case 'NotFound':
      return notFound(resource, name);
    case 'AlreadyExists':
      return alreadyExists(resource, name);
    case 'Conflict':
      return conflict(resource, name);
    case 'Expired':
      return error.continueToken === undefined
        ? resourceExpired(error.message)
        : new ExpiredListError(error.message, error.continueToken, error);
    case 'ResourceVersionTooLarge':
      return new StatusError('Timeout', `Timeout: ${error.message}`, {
        code: 504,
        details: {
          retryAfterSeconds: TOO_LARGE_RETRY_SECONDS,
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        },
        cause: error,
      });
    case 'InvalidContinue':
      return badRequest(`invalid continue token: ${error.message}`);
    case 'TooLarge':
      return requestEntityTooLarge(error.message);
    case 'TooManyRequests':
      return tooManyRequests(RETRY_SECONDS);
    case 'NoSpace':
      return internalError('etcdserver: mvcc: database space exceeded', error);
    case 'Timeout':
      return timeout(`request did not complete within requested timeout - ${error.message}`, retrySeconds);
    case 'Unavailable':
      return serverTimeout(resource, operation, retrySeconds);
    case 'Internal':
      return internalError(error.message, error);
  }
};

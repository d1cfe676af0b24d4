import { isStatusError, type StatusError } from '../../core/api/meta/status.ts';
import { messageOf } from '../../core/base/errors.ts';
import { ClientError, isTransportError } from '../../core/client/index.ts';
import { ContractError, type FailureReason, type Refusal } from '../../core/contract/index.ts';

const REASONS: Readonly<Record<number, FailureReason>> = {
  400: 'BadRequest',
  401: 'Forbidden',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'BadRequest',
  409: 'Conflict',
};

/** What the console is told of a failed read: the server's own words, and whether asking again may help. */
export const kubeFailure = (error: unknown): ContractError => {
  if (error instanceof ContractError) return error;
  if (isStatusError(error))
    return new ContractError(REASONS[error.code] ?? 'Unavailable', error.message, { cause: error });
  if (isTransportError(error)) return new ContractError('Unavailable', error.message, { cause: error });
  if (error instanceof ClientError) return new ContractError('BadRequest', error.message, { cause: error });
  return new ContractError('Internal', messageOf(error), { cause: error });
};

/** Asking again gets the same answer until somebody changes a role, or the resource comes back. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ClientError || (isStatusError(error) && [400, 401, 403, 404, 405].includes(error.code));

export const refusalOf = (error: StatusError): Refusal => ({
  code: error.code,
  reason: error.reason,
  message: error.message,
  causes: (error.details?.causes ?? []).map(({ field = '', message = '', reason = '' }) => ({
    field,
    message,
    reason,
  })),
});

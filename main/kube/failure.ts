import { isStatusError, type StatusError } from '../../core/api/meta/status.ts';
import { ClientError, isTransportError, type TransportError } from '../../core/client/index.ts';
import {
  ContractError,
  type FailureReason,
  inEnglish,
  type Refusal,
  type Said,
  saidOf,
  say,
  verbatim,
} from '../../core/contract/index.ts';

const REASONS: Readonly<Record<number, FailureReason>> = {
  400: 'BadRequest',
  401: 'Forbidden',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'BadRequest',
  409: 'Conflict',
};

/** OpenSSL's codes: of a certificate that we looked at, and of the alert when the server looked at ours. */
const expiryOf = (cause: unknown): 'failure.serverExpired' | 'failure.clientExpired' | undefined => {
  const code = String((cause as { code?: unknown } | undefined)?.code ?? '');
  // Of the server or of an authority above it: the alert does not say which.
  if (code === 'CERT_HAS_EXPIRED') return 'failure.serverExpired';
  return code.endsWith('ALERT_CERTIFICATE_EXPIRED') ? 'failure.clientExpired' : undefined;
};

/** What happened to a request that got no answer, and what to do about it. */
export const unreached = ({ reason, message, cause }: TransportError): Said =>
  say(expiryOf(cause) ?? `failure.unreached.${reason}`, { detail: message });

const UNAUTHORIZED = 401;

/** A server says no more than `Unauthorized` of a token or certificate that it does not believe. */
const statusSaid = ({ code, message }: StatusError): Said =>
  code === UNAUTHORIZED ? say('failure.unauthorized', { detail: message }) : verbatim(message);

/** As far as a person is to read it. */
export const failureSaid = (error: unknown): Said => {
  if (isTransportError(error)) return unreached(error);
  return isStatusError(error) ? statusSaid(error) : saidOf(error);
};

/** What the console is told of a failed read: the server's own words, and whether asking again may help. */
export const kubeFailure = (error: unknown): ContractError => {
  if (error instanceof ContractError) return error;
  if (isStatusError(error))
    return new ContractError(REASONS[error.code] ?? 'Unavailable', statusSaid(error), { cause: error });
  if (isTransportError(error)) return new ContractError('Unavailable', unreached(error), { cause: error });
  if (error instanceof ClientError) return new ContractError('BadRequest', saidOf(error), { cause: error });
  return new ContractError('Internal', saidOf(error), { cause: error });
};

/** Asking again gets the same answer until somebody changes a role or signs in, or the resource comes back. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ClientError ||
  (error instanceof ContractError && error.reason === 'Forbidden') ||
  (isStatusError(error) && [400, 401, 403, 404, 405].includes(error.code));

export const refusalOf = (error: StatusError): Refusal => ({
  code: error.code,
  reason: error.reason,
  message: inEnglish(statusSaid(error)),
  causes: (error.details?.causes ?? []).map(({ field = '', message = '', reason = '' }) => ({
    field,
    message,
    reason,
  })),
});

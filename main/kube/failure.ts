import { isStatusError, type StatusError } from '../../core/api/meta/status.ts';
import { messageOf } from '../../core/base/errors.ts';
import { ClientError, isTransportError, type TransportError } from '../../core/client/index.ts';
import { ContractError, type FailureReason, type Refusal } from '../../core/contract/index.ts';

const REASONS: Readonly<Record<number, FailureReason>> = {
  400: 'BadRequest',
  401: 'Forbidden',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'BadRequest',
  409: 'Conflict',
};

/** Each with what a person does next; the socket's own words follow in brackets. */
const UNREACHED: Readonly<Record<TransportError['reason'], string>> = {
  ConnectionRefused: 'connection refused by the API server; start the cluster or one of its control planes',
  ConnectionLost:
    'the connection to the API server was lost; retry, and check its control planes if the problem persists',
  NameNotResolved: 'cannot resolve the name of the API server; check the address in the kubeconfig',
  TlsFailed: 'TLS verification failed; check the certificates of the API server and of the kubeconfig',
  ProxyFailed: 'the proxy rejected the connection to the API server; check the proxy in the kubeconfig',
  TimedOut: 'the API server did not respond in time; check whether its host is paused or isolated',
  Closed: 'the connection was closed by this console; retry',
};

/** Of the server or of an authority above it: the alert does not say which. */
const SERVER_EXPIRED =
  'the certificate of the API server, or of the CA that signed it, has expired; renew it (pilothouse certs renew all or kubeadm certs renew all)';
const CLIENT_EXPIRED =
  'the client certificate in the kubeconfig has expired; get a new kubeconfig and open it again';

/** OpenSSL's codes: of a certificate that we looked at, and of the alert when the server looked at ours. */
const expiryOf = (cause: unknown): string | undefined => {
  const code = String((cause as { code?: unknown } | undefined)?.code ?? '');
  if (code === 'CERT_HAS_EXPIRED') return SERVER_EXPIRED;
  return code.endsWith('ALERT_CERTIFICATE_EXPIRED') ? CLIENT_EXPIRED : undefined;
};

/** What happened to a request that got no answer, and what to do about it. */
export const unreachedMessage = ({ reason, message, cause }: TransportError): string =>
  `${expiryOf(cause) ?? UNREACHED[reason]} (${message})`;

const UNAUTHORIZED = 401;

/** A server says no more than `Unauthorized` of a token or certificate that it does not believe. */
const statusMessage = ({ code, message }: StatusError): string =>
  code === UNAUTHORIZED
    ? `the API server rejected the credentials of this kubeconfig (${message}); sign in again, or get a new kubeconfig from the cluster administrator and open it`
    : message;

/** As far as a person is to read it. */
export const failureMessage = (error: unknown): string => {
  if (isTransportError(error)) return unreachedMessage(error);
  return isStatusError(error) ? statusMessage(error) : messageOf(error);
};

/** What the console is told of a failed read: the server's own words, and whether asking again may help. */
export const kubeFailure = (error: unknown): ContractError => {
  if (error instanceof ContractError) return error;
  if (isStatusError(error))
    return new ContractError(REASONS[error.code] ?? 'Unavailable', statusMessage(error), { cause: error });
  if (isTransportError(error))
    return new ContractError('Unavailable', unreachedMessage(error), { cause: error });
  if (error instanceof ClientError) return new ContractError('BadRequest', error.message, { cause: error });
  return new ContractError('Internal', messageOf(error), { cause: error });
};

/** Asking again gets the same answer until somebody changes a role, or the resource comes back. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ClientError || (isStatusError(error) && [400, 401, 403, 404, 405].includes(error.code));

export const refusalOf = (error: StatusError): Refusal => ({
  code: error.code,
  reason: error.reason,
  message: statusMessage(error),
  causes: (error.details?.causes ?? []).map(({ field = '', message = '', reason = '' }) => ({
    field,
    message,
    reason,
  })),
});

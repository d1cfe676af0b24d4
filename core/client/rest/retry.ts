import type { Random } from '../../base/random.ts';
import { isTransportError, type WireResponse } from './transport.ts';

/** As client-go: a request is tried at most this often again. */
export const RETRIES_MAX = 10;
/** A server that is not there will hardly be within one request; who asks again and again backs off itself. */
export const CONNECT_RETRIES_MAX = 3;
const CONNECT_PAUSE_MS = 50;
const RETRY_AFTER_SECONDS_MAX = 3600;

/** How long a busy server asks us to wait, when it does: 429 and 5xx with Retry-After, whatever the method. */
export const waitAskedForMs = (response: WireResponse): number | undefined => {
  const { status, headers } = response;
  if (status !== 429 && (status < 500 || status > 599)) return undefined;
  const header = headers['retry-after'];
  if (header === undefined || !/^\d+$/.test(header)) return undefined;
  return Math.min(Number(header), RETRY_AFTER_SECONDS_MAX) * 1000;
};

/**
 * How long to wait before a request that failed on the way is sent again; undefined when it must not be, because
 * the server may have done it. Reads may always be repeated.
 */
export const pauseAfterFailureMs = (
  error: unknown,
  request: { readonly method: string; readonly attempt: number },
  random: Random,
): number | undefined => {
  if (!isTransportError(error) || request.attempt >= CONNECT_RETRIES_MAX) return undefined;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  switch (error.reason) {
    case 'ConnectionLost':
      if (error.maybeProcessed && !isRead) return undefined;
      break;
    case 'ConnectionRefused':
      break;
    case 'NameNotResolved':
    case 'ProxyFailed':
    case 'TlsFailed':
    case 'TimedOut':
    case 'Closed':
      return undefined;
  }
  return CONNECT_PAUSE_MS * 2 ** request.attempt * (0.5 + random.next());
};

import type { Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';

export interface WireRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case; a list is sent as a header for each value. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /**
   * Called right before the first byte leaves, and may abort the signal: from then on the server may do it, whatever
   * becomes of the answer.
   */
  readonly beforeSent?: () => void;
}

export interface WireResponse extends Disposable {
  readonly status: number;
  /** Names in lower case; a header that came several times is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one reader. Throws TransportError when the connection ends early. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body immediately, instead of `body`; undefined when it is longer than that. */
  readAll?(bytesMax: number): Promise<Uint8Array | undefined>;
}

/** Carries requests to a server; the only part that knows sockets. */
export interface Transport extends Disposable {
  /** Resolves with the head of the answer. Rejects with TransportError, or with the signal's reason. */
  send(request: WireRequest): Promise<WireResponse>;
}

export type TransportReason =
  | 'ConnectionRefused'
  | 'ConnectionLost'
  | 'NameNotResolved'
  | 'TlsFailed'
  | 'ProxyFailed'
  | 'TimedOut'
  | 'Closed';

/** The server was not reached, or not to the end. */
export class TransportError extends ReasonError<TransportReason> {
  override readonly name = 'TransportError';
  /** False when the server cannot have seen the request: trying it again is safe whatever it is. */
  readonly maybeProcessed: boolean;

  constructor(
    reason: TransportReason,
    message: string,
    options: { readonly maybeProcessed: boolean; readonly cause?: unknown },
  ) {
    super(reason, message, { cause: options.cause });
    this.maybeProcessed = options.maybeProcessed;
  }
}

export const isTransportError = (error: unknown): error is TransportError => error instanceof TransportError;

const REASON_OF_CODE: Readonly<Record<string, TransportReason>> = {
  ECONNREFUSED: 'ConnectionRefused',
  EHOSTUNREACH: 'ConnectionRefused',
  ENETUNREACH: 'ConnectionRefused',
  ENOTFOUND: 'NameNotResolved',
  EAI_AGAIN: 'NameNotResolved',
  ETIMEDOUT: 'TimedOut',
};

const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/;

/** What a socket's error means. */
export const transportErrorOf = (
  error: unknown,
  what: string,
  options: { readonly maybeProcessed: boolean },
): TransportError => {
  if (error instanceof TransportError) return error;
  const code = String((error as { code?: unknown } | undefined)?.code ?? '');
  const reason = REASON_OF_CODE[code] ?? (TLS_CODE.test(code) ? 'TlsFailed' : 'ConnectionLost');
  const text = error instanceof Error ? error.message : String(error);
  return new TransportError(reason, `${what}: ${text}`, { ...options, cause: error });
};

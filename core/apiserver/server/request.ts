import type { X509Certificate } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { RequestHeaders } from './headers.ts';

/** Upstream's limit for the body of one request. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;

/** The other end of a connection. One object stands for all requests of a connection, so it can key a cache. */
export interface Peer {
  readonly address: string;
  readonly port: number;
  /** Whether TLS verified the certificate against any of the authorities that the listener trusts. */
  readonly verified: boolean;
  /** Decoded when first asked for, once a connection. */
  certificate(): X509Certificate | undefined;
  /** Authentication knows who it is: the connection is no stranger's from now on. */
  recognized(): void;
}

/** What a protocol upgrade takes over. */
export interface UpgradedConnection {
  readonly socket: Duplex;
  /** Bytes of the new protocol that came with the request. */
  readonly head: Uint8Array;
}

/** A request as every stage sees it, whatever protocol it came by. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  /** The path, percent-decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: RequestHeaders;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2.0';
  readonly peer: Peer;
  /** Fires when the client is gone or the time for the request is over. */
  readonly signal: AbortSignal;
  /** Fires when the server begins to stop: a watch ends its stream here, others finish. */
  readonly draining: AbortSignal;
  /** The whole body; a second call gives the same bytes. Fails with 413 past the bound. */
  body(bytesMax?: number): Promise<Uint8Array>;
  /** Whether the client asked for another protocol, so that `upgrade` can take its connection over. */
  readonly isUpgrade: boolean;
  /** Takes the connection over; undefined where the client asked for no upgrade. The response is then ours no more. */
  upgrade(): UpgradedConnection | undefined;
}

/** Bounds of the listener. Each has a default that suits a control plane; tests make them small. */
export interface ServerLimits {
  readonly connectionsMax: number;
  /** Upstream's --http2-max-streams-per-connection. */
  readonly streamsPerConnectionMax: number;
  readonly headerBytesMax: number;
  readonly handshakeTimeoutMs: number;
  /** From the start of a connection, or of a request on HTTP/1.1, to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** A connection without a request in flight is closed after this long. */
  readonly idleTimeoutMs: number;
  /** Upstream's --request-timeout; long-running requests are exempt. */
  readonly requestTimeoutMs: number;
}

const SECOND_MS = 1000;

export const DEFAULT_LIMITS: ServerLimits = {
  connectionsMax: 10_000,
  streamsPerConnectionMax: 100,
  headerBytesMax: 1024 * 1024,
  handshakeTimeoutMs: 10 * SECOND_MS,
  headersTimeoutMs: 32 * SECOND_MS,
  idleTimeoutMs: 90 * SECOND_MS,
  requestTimeoutMs: 60 * SECOND_MS,
};

/** Bounds of the listener. Each has a default that suits a control plane; tests make them small. */
export interface ServerLimits {
  readonly connectionsMax: number;
  /** Connections whose peer has not been authenticated; past it the oldest of them is closed. */
  readonly strangersMax: number;
  /** Upstream's --http2-max-streams-per-connection. */
  readonly streamsPerConnectionMax: number;
  readonly headerBytesMax: number;
  readonly handshakeTimeoutMs: number;
  /** From the start of a connection, or of a request on HTTP/1.1, to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** A connection without a request in flight is closed after this long. */
  readonly idleTimeoutMs: number;
  /**
   * Upstream's --request-timeout; long-running requests are exempt. Of any request, an answer that the client takes
   * nothing of is given up after the same time.
   */
  readonly requestTimeoutMs: number;
  /** What is kept for clients that do not take it, on all connections of HTTP/2 together. */
  readonly stalledBytesMax: number;
}

const SECOND_MS = 1000;

export const DEFAULT_LIMITS: ServerLimits = {
  connectionsMax: 10_000,
  strangersMax: 1000,
  streamsPerConnectionMax: 100,
  headerBytesMax: 1024 * 1024,
  handshakeTimeoutMs: 10 * SECOND_MS,
  headersTimeoutMs: 32 * SECOND_MS,
  idleTimeoutMs: 90 * SECOND_MS,
  requestTimeoutMs: 60 * SECOND_MS,
  stalledBytesMax: 128 * 1024 * 1024,
};

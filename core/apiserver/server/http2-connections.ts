import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { H2_ERROR } from '../../base/node/http2/frame.ts';
import { encodeHeaders, type HeaderField } from '../../base/node/http2/hpack.ts';
import { Http2Connection } from '../../base/node/http2/server/connection.ts';
import { StallBudget } from '../../base/node/http2/server/stall-budget.ts';
import type { Http2Stream } from '../../base/node/http2/server/stream.ts';
import type { ConnectionsOptions, ProtocolConnections } from './http1-connections.ts';
import { http2Exchange } from './http2-exchange.ts';

/** As RFC 9113, section 6.5.2, counts a header list. */
const HEADER_OVERHEAD_BYTES = 32;
/** Upstream's: most objects are smaller, and what no one reads yet is bounded by it. */
const STREAM_WINDOW_BYTES = 256 * 1024;
/** Lists up to this many times the limit are read, so that their sender can be told. */
const HEADER_TOLERANCE = 4;
const TOO_LARGE = encodeHeaders([{ name: ':status', value: '431' }]);

const headerBytesOf = (fields: readonly HeaderField[]): number => {
  let bytes = 0;
  for (const { name, value } of fields) bytes += name.length + value.length + HEADER_OVERHEAD_BYTES;
  return bytes;
};

const REQUEST_PSEUDO = new Set([':method', ':scheme', ':authority', ':path']);
/** They speak of a connection of HTTP/1.1 (RFC 9113, section 8.2.2). */
const CONNECTION_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/**
 * RFC 9113, sections 8.2 and 8.3: known pseudo headers, each once and in front, and no header of a connection.
 * Characters were checked when the block was decoded.
 */
const isWellFormed = (fields: readonly HeaderField[]): boolean => {
  const seen = new Set<string>();
  let isRegular = false;
  for (const { name, value } of fields) {
    if (name.startsWith(':')) {
      if (isRegular || seen.has(name) || !REQUEST_PSEUDO.has(name)) return false;
      // A blank would end the target where a request line is made of it.
      if (value.includes(' ') || (name === ':path' && !value.startsWith('/') && value !== '*')) return false;
      seen.add(name);
    } else {
      isRegular = true;
      if (CONNECTION_HEADERS.has(name) || (name === 'te' && value !== 'trailers')) return false;
    }
  }
  return seen.has(':scheme');
};

/** One connection is watched by one timer, however many requests come and go. */
const closeWhenIdle = (
  connection: Http2Connection,
  clock: Clock,
  idleTimeoutMs: number,
): Disposable & { touched(): void } => {
  let idleSinceMs = clock.monotonicMs();
  let timer: Disposable;
  const watch = (delayMs: number): void => {
    timer = clock.after(delayMs, () => {
      const idleMs = connection.streamCount > 0 ? 0 : clock.monotonicMs() - idleSinceMs;
      if (idleMs >= idleTimeoutMs) connection.close();
      else watch(idleTimeoutMs - idleMs);
    });
  };
  // Counts from the handshake on, so half a HEADERS frame does not hold a connection open either.
  watch(idleTimeoutMs);
  return {
    touched: () => (idleSinceMs = clock.monotonicMs()),
    dispose: () => timer.dispose(),
  };
};

export const http2Connections = (
  options: ConnectionsOptions & { readonly clock: Clock },
): ProtocolConnections => {
  const { limits, draining, serve, clock } = options;
  const connections = new Set<Http2Connection>();
  const budget = new StallBudget(limits.stalledBytesMax);

  const serveStream = (stream: Http2Stream, socket: TLSSocket): void => {
    if (headerBytesOf(stream.headers) > limits.headerBytesMax) {
      stream.sendHeaders(TOO_LARGE);
      stream.end();
      return;
    }
    if (!isWellFormed(stream.headers)) {
      stream.reset(H2_ERROR.protocolError);
      return;
    }
    void serve(http2Exchange({ stream, socket, draining }));
  };

  return {
    accept(socket) {
      const connection = new Http2Connection(socket, {
        streamsMax: limits.streamsPerConnectionMax,
        streamWindowBytes: STREAM_WINDOW_BYTES,
        headerListBytesMax: limits.headerBytesMax * HEADER_TOLERANCE,
        headerListBytesTold: limits.headerBytesMax,
        onStream: (stream) => serveStream(stream, socket),
        onIdle: () => idle.touched(),
        onClosed() {
          idle.dispose();
          connections.delete(connection);
        },
        clock,
        stallTimeoutMs: limits.requestTimeoutMs,
        budget,
      });
      const idle = closeWhenIdle(connection, clock, limits.idleTimeoutMs);
      connections.add(connection);
    },
    drain() {
      for (const connection of connections) connection.drain();
    },
    destroy() {
      for (const connection of connections) connection.destroy();
    },
  };
};

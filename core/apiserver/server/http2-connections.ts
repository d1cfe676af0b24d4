import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { http2Exchange } from './exchange.ts';
import type { ConnectionsOptions, ProtocolConnections } from './http1-connections.ts';

/** As RFC 9113, section 6.5.2, counts a header list. */
const HEADER_OVERHEAD_BYTES = 32;
const headerBytesOf = (raw: readonly string[]): number =>
  raw.reduce((sum, text) => sum + text.length, (raw.length / 2) * HEADER_OVERHEAD_BYTES);

export const http2Connections = (
  options: ConnectionsOptions & { readonly clock: Clock },
): ProtocolConnections => {
  const { limits, draining, serve, clock } = options;
  const sessions = new Set<ServerHttp2Session>();
  let handedOver: TLSSocket | undefined;
  const server = createServer({
    settings: {
      maxConcurrentStreams: limits.streamsPerConnectionMax,
      maxHeaderListSize: limits.headerBytesMax,
    },
  });

  const serveStream = (stream: ServerHttp2Stream, rawHeaders: readonly string[], socket: TLSSocket): void => {
    // Node announces the limit of the settings and does not hold clients to it.
    if (headerBytesOf(rawHeaders) > limits.headerBytesMax) {
      stream.on('error', () => stream.destroy());
      stream.respond({ ':status': 431 }, { endStream: true });
      return;
    }
    void serve(http2Exchange({ stream, rawHeaders, socket, draining }));
  };

  server.on('session', (session: ServerHttp2Session) => {
    assert(handedOver, 'a session starts while its connection is handed over');
    // `session.socket` is a guarded proxy; the peer is read off the socket behind it.
    const socket = handedOver;
    sessions.add(session);
    let streamCount = 0;
    let idle: Disposable | undefined;
    const becomeIdle = (): void => {
      // Counts from the handshake on, so half a HEADERS frame does not hold a connection open either.
      idle = clock.after(limits.idleTimeoutMs, () => session.destroy());
    };
    session.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: number, raw: string[]) => {
      idle?.dispose();
      streamCount += 1;
      stream.once('close', () => {
        streamCount -= 1;
        if (streamCount === 0 && !session.destroyed) becomeIdle();
      });
      serveStream(stream, raw, socket);
    });
    session.on('error', () => session.destroy());
    session.once('close', () => {
      idle?.dispose();
      sessions.delete(session);
    });
    becomeIdle();
  });

  return {
    accept(socket) {
      handedOver = socket;
      server.emit('connection', socket);
      handedOver = undefined;
    },
    drain() {
      for (const session of sessions) session.close();
    },
    destroy() {
      for (const session of sessions) session.destroy();
    },
  };
};

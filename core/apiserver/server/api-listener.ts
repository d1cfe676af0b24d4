import { createServer as createHttp1, ServerResponse, type IncomingMessage } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { constants } from 'node:crypto';
import { createServer as createTls, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { http1Exchange, http2Exchange, type Exchange } from './exchange.ts';
import type { ServerLimits } from './limits.ts';
import type { UpgradedConnection } from './request.ts';

/** What the listener shows and trusts; replaced as one when files change. */
export interface ServingCertificates {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** Authorities of client certificates: named in the handshake so that clients know which one to send. */
  readonly clientAuthoritiesPem: readonly string[];
}

export interface ListenerOptions {
  readonly certificates: ServingCertificates;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly draining: AbortSignal;
  /** Must not reject. */
  readonly serve: (exchange: Exchange) => Promise<void>;
  readonly onHandshakeError: (error: Error) => void;
}

export interface Listener {
  listen(port: number, host: string): Promise<AddressInfo>;
  /** For connections made from now on. */
  setCertificates(certificates: ServingCertificates): void;
  /** Refuses new connections, sends GOAWAY, and closes connections as they fall idle. */
  stopAccepting(): void;
  /** Resolves when the last connection is closed. */
  closed(): Promise<void>;
  /** Cuts what is left. */
  destroy(): void;
  readonly connectionCount: number;
}

const secureContext = (certificates: ServingCertificates): SecureContextOptions => ({
  cert: certificates.certificatePem,
  key: certificates.privateKeyPem,
  ca: [...certificates.clientAuthoritiesPem],
  minVersion: 'TLSv1.2',
  // A resumed session would bring back an identity that was verified against an older bundle.
  secureOptions: constants.SSL_OP_NO_TICKET,
});

const TIMEOUT_CHECK_INTERVAL_MS = 1000;
const TOO_LARGE_HEADERS = 'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n';
const BAD_REQUEST =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request';
const HEADERS_TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

const answerTo = (code: string | undefined): string =>
  code === 'HPE_HEADER_OVERFLOW'
    ? TOO_LARGE_HEADERS
    : code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? HEADERS_TIMEOUT
      : BAD_REQUEST;

/** As RFC 9113, section 6.5.2, counts a header list. */
const HEADER_OVERHEAD_BYTES = 32;
const headerBytesOf = (raw: readonly string[]): number =>
  raw.reduce((sum, text) => sum + text.length, (raw.length / 2) * HEADER_OVERHEAD_BYTES);

/**
 * TLS in front, and behind it the protocol that was agreed on. Two plain servers that are handed their
 * connections, instead of one with `allowHTTP1`: only so can HTTP/2 use Node's cheaper stream interface.
 */
export const createListener = (options: ListenerOptions): Listener => {
  const { limits, clock, draining, serve } = options;
  const rawSockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  let handedOver: TLSSocket | undefined;

  const http1 = createHttp1({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    // For the body as well; a little late, so that the answer is the one of the pipeline.
    requestTimeout: limits.requestTimeoutMs + TIMEOUT_CHECK_INTERVAL_MS,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL_MS, limits.headersTimeoutMs),
  });
  http1.on('request', (message: IncomingMessage, reply) => {
    void serve(http1Exchange({ message, reply, draining }));
  });
  http1.on('upgrade', (message: IncomingMessage, socket, head) => {
    // Node hands the bare connection over; a stage may still refuse, and that is answered as ever.
    const reply = new ServerResponse(message);
    reply.assignSocket(socket as Socket);
    reply.setHeader('connection', 'close');
    reply.once('finish', () => socket.end());
    const takeOver = (): UpgradedConnection => {
      reply.detachSocket(socket as Socket);
      return { socket, head };
    };
    void serve(http1Exchange({ message, reply, draining, takeOver }));
  });
  http1.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== 'ECONNRESET') socket.end(answerTo(error.code));
    else socket.destroy();
  });

  const http2 = createHttp2({
    settings: {
      maxConcurrentStreams: limits.streamsPerConnectionMax,
      maxHeaderListSize: limits.headerBytesMax,
    },
  });
  http2.on('session', (session: ServerHttp2Session) => {
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
    session.on(
      'stream',
      (stream: ServerHttp2Stream, _headers: unknown, _flags: number, rawHeaders: string[]) => {
        idle?.dispose();
        streamCount += 1;
        stream.once('close', () => {
          streamCount -= 1;
          if (streamCount === 0 && !session.destroyed) becomeIdle();
        });
        // Node announces the limit of the settings and does not hold clients to it.
        if (headerBytesOf(rawHeaders) > limits.headerBytesMax) {
          stream.on('error', () => stream.destroy());
          stream.respond({ ':status': 431 }, { endStream: true });
          return;
        }
        void serve(http2Exchange({ stream, rawHeaders, socket, draining }));
      },
    );
    session.on('error', () => session.destroy());
    session.once('close', () => {
      idle?.dispose();
      sessions.delete(session);
    });
    becomeIdle();
  });

  const tls = createTls({
    ...secureContext(options.certificates),
    requestCert: true,
    // Asked for, not required: tokens and anonymous probes come without, and authentication decides.
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: limits.handshakeTimeoutMs,
  });
  tls.maxConnections = limits.connectionsMax;
  tls.on('connection', (socket: Socket) => {
    rawSockets.add(socket);
    socket.once('close', () => rawSockets.delete(socket));
    socket.setNoDelay(true);
  });
  tls.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => socket.destroy());
    if (socket.alpnProtocol === 'h2') {
      handedOver = socket;
      http2.emit('connection', socket);
      handedOver = undefined;
    } else http1.emit('connection', socket);
  });
  tls.on('tlsClientError', (error, socket) => {
    options.onHandshakeError(error);
    socket.destroy();
  });

  let whenClosed: Promise<void> = Promise.resolve();
  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        tls.once('error', reject);
        tls.listen(port, host, () => {
          tls.off('error', reject);
          // Node tracks the times of HTTP/1.1 connections from this event on; this server never binds itself.
          http1.emit('listening');
          whenClosed = new Promise((done) => tls.once('close', () => done()));
          resolve(tls.address() as AddressInfo);
        });
      }),
    setCertificates: (certificates) => tls.setSecureContext(secureContext(certificates)),
    stopAccepting() {
      tls.close();
      http1.close();
      http1.closeIdleConnections();
      for (const session of sessions) session.close();
    },
    closed: () => whenClosed,
    destroy() {
      for (const session of sessions) session.destroy();
      for (const socket of rawSockets) socket.destroy();
      http1.closeAllConnections();
    },
    get connectionCount() {
      return rawSockets.size;
    },
  };
};

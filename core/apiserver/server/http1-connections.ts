import { createServer, ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { http1Acceptor } from '../../base/node/http1-acceptor.ts';
import { http1Exchange, type Exchange } from './exchange.ts';
import type { ServerLimits } from './limits.ts';
import type { UpgradedConnection } from './request.ts';

/** Connections of one protocol, behind TLS. */
export interface ProtocolConnections {
  accept(socket: TLSSocket): void;
  /** Lets requests in flight finish, and closes what is idle. */
  drain(): void;
  destroy(): void;
}

export interface ConnectionsOptions {
  readonly limits: ServerLimits;
  readonly draining: AbortSignal;
  /** Must not reject. */
  readonly serve: (exchange: Exchange) => Promise<void>;
}

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

export const http1Connections = ({ limits, draining, serve }: ConnectionsOptions): ProtocolConnections => {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    // For the body as well; a little late, so that the answer is the one of the pipeline.
    requestTimeout: limits.requestTimeoutMs + TIMEOUT_CHECK_INTERVAL_MS,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL_MS, limits.headersTimeoutMs),
  });
  server.on('request', (message: IncomingMessage, reply) => {
    void serve(http1Exchange({ message, reply, draining }));
  });
  server.on('upgrade', (message: IncomingMessage, socket, head) => {
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
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== 'ECONNRESET') socket.end(answerTo(error.code));
    else socket.destroy();
  });
  return {
    accept: http1Acceptor(server),
    drain() {
      server.close();
      server.closeIdleConnections();
    },
    destroy: () => server.closeAllConnections(),
  };
};

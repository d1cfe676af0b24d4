import { createServer as createHttp1Server } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { TLSSocket, createServer as createTlsServer } from 'node:tls';
import type { Server as TlsServer } from 'node:tls';
import type { Clock } from '../../../base/clock.ts';
import { assert } from '../../../base/assert.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { Http2Connection } from '../../../base/node/http2/server/connection.ts';
import type { Http2Stream } from '../../../base/node/http2/server/stream.ts';
import { freeSocketPath, type ListenAddress } from '../../../base/node/listen-address.ts';
import { handshakeFailure } from '../../../base/node/tls-failure.ts';
import { boundStrangers } from '../../../base/node/strangers.ts';
import type { Peer } from './method.ts';
import { http1Exchange } from './http-exchange.ts';
import type { ExchangePeer } from './http-exchange.ts';
import type { HttpHandler } from './plain-http.ts';
import { HeadLimit } from './head-limit.ts';
import { isClientAllowed, peerNameOf, secureContextOf, tlsServerOptionsOf } from './server-tls.ts';
import type { ServerTls } from './server-tls.ts';
import { chooseProtocol } from './sniff.ts';

export interface GrpcServerOptions {
  readonly address: ListenAddress;
  /** Absent: `http://`, where HTTP/2 with prior knowledge and HTTP/1 share the port. */
  readonly tls?: ServerTls | undefined;
  readonly route: (stream: Http2Stream, peer: Peer & ExchangePeer) => void;
  /** Everything of HTTP/1. */
  readonly http: HttpHandler;
  readonly clock: Clock;
  readonly log: Log;
  /** `--max-concurrent-streams` */
  readonly streamsMax?: number | undefined;
  readonly keepalive?: KeepaliveOptions | undefined;
}

export interface KeepaliveOptions {
  /** `--grpc-keepalive-interval`; 0 sends no pings. */
  readonly intervalMs: number;
  /** `--grpc-keepalive-timeout` */
  readonly timeoutMs: number;
  /** `--grpc-keepalive-min-time`; 0 lets clients ping as they like. */
  readonly clientIntervalMinMs: number;
}

const STREAMS_MAX_DEFAULT = 0xffffffff;
/** Most requests arrive without waiting for credit. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const HEADER_LIST_BYTES_MAX = 64 * 1024;
/** etcd keeps 150 file descriptors for itself; this is far below what a process may open nearly everywhere. */
const CONNECTIONS_MAX = 8192;
/** Connections that are still in the handshake: past it the oldest is closed, so that clients are always let in. */
const STRANGERS_MAX = 256;
/** etcd's defaults. */
const KEEPALIVE_DEFAULT: KeepaliveOptions = {
  intervalMs: 2 * 60 * 60 * 1000,
  timeoutMs: 20 * 1000,
  clientIntervalMinMs: 5 * 1000,
};

export interface GrpcServer {
  /** 0 on a Unix socket. */
  readonly port: number;
  readonly connectionCount: number;
  /** New handshakes use these certificates; connections that are open keep theirs. */
  renewCertificates(tls: ServerTls): void;
  /** Refuses new connections and calls, lets running calls finish for `graceMs`, then cuts what is left. */
  close(options: { readonly graceMs: number }): Promise<void>;
}

/** Listens; resolves when connections are accepted, rejects when the address cannot be had. */
export const listen = async (options: GrpcServerOptions): Promise<GrpcServer> => {
  const { log, clock } = options;
  const connections = new Set<Http2Connection>();
  const sockets = new Set<Socket>();
  const heads = new HeadLimit(clock);
  const http1 = createHttp1Server({ maxHeaderSize: HEADER_LIST_BYTES_MAX }, (request, response) => {
    heads.arrived(request.socket);
    response.once('close', () => heads.awaited(request.socket));
    options.http(http1Exchange(request, response, peerOf(request.socket)));
  });

  const serveHttp2 = (socket: Socket): void => {
    const peer = peerOf(socket);
    const connection: Http2Connection = new Http2Connection(socket, {
      streamsMax: options.streamsMax ?? STREAMS_MAX_DEFAULT,
      streamWindowBytes: STREAM_WINDOW_BYTES,
      headerListBytesMax: HEADER_LIST_BYTES_MAX,
      pingIntervalMinMs: (options.keepalive ?? KEEPALIVE_DEFAULT).clientIntervalMinMs,
      onStream: (stream) => options.route(stream, peer),
      onClosed: () => connections.delete(connection),
      clock,
    });
    connections.add(connection);
    if (closing) connection.drain();
  };

  const accept = (socket: Socket): void => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    chooseProtocol(socket, {
      clock,
      onHttp2: () => serveHttp2(socket),
      onHttp1() {
        heads.awaited(socket);
        http1.emit('connection', socket);
      },
    });
  };

  const server =
    options.tls === undefined ? createNetServer(accept) : createSecureServer(options.tls, accept);
  server.maxConnections = CONNECTIONS_MAX;
  let closing = false;
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    log.write('warn', 'rejected connection on client endpoint', {
      'remote-addr': addressOf(socket),
      error: handshakeFailure(error, socket),
    });
  });
  if (options.address.path !== undefined) await freeSocketPath(options.address.path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...options.address }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => log.write('warn', 'client listener failed', { error: messageOf(error) }));
  const keepalive = startKeepalive(connections, options);

  return {
    port: portOf(server),
    get connectionCount() {
      return sockets.size;
    },
    renewCertificates(tls) {
      assert('setSecureContext' in server, 'only a TLS listener has certificates');
      (server as TlsServer).setSecureContext(secureContextOf(tls));
    },
    async close({ graceMs }) {
      if (closing) return;
      closing = true;
      keepalive.dispose();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections) connection.drain();
      http1.closeIdleConnections();
      const cut = clock.after(graceMs, () => {
        for (const socket of sockets) socket.destroy();
      });
      await closed;
      cut.dispose();
    },
  };
};

const portOf = (server: Server): number => {
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
};

const createSecureServer = (tls: ServerTls, accept: (socket: TLSSocket) => void): Server => {
  const server = createTlsServer({ ...tlsServerOptionsOf(tls), ALPNProtocols: ['h2', 'http/1.1'] });
  const strangers = boundStrangers(server, STRANGERS_MAX);
  server.on('secureConnection', (socket: TLSSocket) => {
    if (isClientAllowed(socket, tls)) {
      strangers.recognize(socket);
      return accept(socket);
    }
    // As etcd logs it, and the client learns no more than that its certificate was not accepted.
    server.emit('tlsClientError', new Error('client certificate authentication failed'), socket);
    socket.destroy();
  });
  return server;
};

/** Of a Unix socket `@`, as Go prints it. */
const addressOf = (socket: Socket): string =>
  socket.remoteAddress === undefined ? '@' : `${socket.remoteAddress}:${socket.remotePort ?? 0}`;

const peerOf = (socket: Socket): Peer & ExchangePeer => {
  // Parsing a certificate takes longer than a call; asked for once a connection.
  let known: { readonly name: string | undefined } | undefined;
  return {
    address: addressOf(socket),
    secure: socket instanceof TLSSocket,
    commonName() {
      known ??= { name: socket instanceof TLSSocket ? peerNameOf(socket) : undefined };
      return known.name;
    },
  };
};

const startKeepalive = (connections: ReadonlySet<Http2Connection>, options: GrpcServerOptions) => {
  const { intervalMs, timeoutMs } = options.keepalive ?? KEEPALIVE_DEFAULT;
  let timer = { dispose() {} };
  const plan = (): void => {
    timer = options.clock.after(intervalMs, () => {
      for (const connection of connections) connection.ping();
      timer = options.clock.after(timeoutMs, () => {
        for (const connection of connections) if (connection.awaitsPong) connection.destroy();
        plan();
      });
    });
  };
  if (intervalMs > 0) plan();
  return { dispose: () => timer.dispose() };
};

import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { freeSocketPath, type ListenAddress } from '../../base/node/listen-address.ts';
import { boundStrangers } from '../../base/node/strangers.ts';
import {
  isClientAllowed,
  secureContextOf,
  servePlainOverHttp1,
  tlsServerOptionsOf,
  type PlainHandler,
  type ServerTls,
} from '../rpc/index.ts';

/**
 * Scrapers and probes are few; the bound keeps strangers from using up the process's open files. Past it the oldest
 * connection is closed: a probe that is kept out would have the member restarted.
 */
const CONNECTIONS_MAX = 256;
const REQUEST_HEADERS_BYTES_MAX = 16 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
/** Also ends a response that its client does not read. */
const SILENT_SOCKET_TIMEOUT_MS = 30_000;

export interface MetricsListenerOptions {
  readonly listeners: readonly {
    readonly address: ListenAddress;
    readonly tls?: ServerTls | undefined;
  }[];
  /** Has no way to keys, members or leases: this port needs no certificate. */
  readonly handler: PlainHandler;
  readonly log: Log;
}

export interface MetricsListener {
  /** In the order of the listeners. */
  readonly ports: readonly number[];
  renewCertificates(tls: ServerTls): void;
  close(): Promise<void>;
}

/**
 * `--listen-metrics-urls`: HTTP/1.1 with the endpoints for scrapers and probes, and no gRPC. It shares no router with
 * the client listener, so that nothing added there is ever reachable without a certificate here.
 */
export const listenMetrics = async (options: MetricsListenerOptions): Promise<MetricsListener> => {
  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(
      servers.map((server) => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeAllConnections();
        return closed;
      }),
    );
  };
  try {
    for (const { address, tls } of options.listeners) {
      const server = createServer(options.handler, tls);
      await listen(server, address);
      server.on('error', (error) =>
        options.log.write('warn', 'metrics listener failed', { error: messageOf(error) }),
      );
      servers.push(server);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ports: servers.map((server) => {
      const address = server.address();
      return typeof address === 'object' ? (address?.port ?? 0) : 0;
    }),
    renewCertificates(tls) {
      for (const server of servers)
        if ('setSecureContext' in server)
          (server as unknown as TlsServer).setSecureContext(secureContextOf(tls));
    },
    close,
  };
};

const createServer = (handler: PlainHandler, tls: ServerTls | undefined): Server => {
  const limits = {
    maxHeaderSize: REQUEST_HEADERS_BYTES_MAX,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  };
  const serve = servePlainOverHttp1(handler);
  const server =
    tls === undefined
      ? createHttpServer(limits, serve)
      : createHttpsServer({ ...limits, ...tlsServerOptionsOf(tls), ALPNProtocols: ['http/1.1'] }, serve);
  if (tls !== undefined)
    server.on('secureConnection', (socket: TLSSocket) => {
      if (!isClientAllowed(socket, tls)) socket.destroy();
    });
  boundStrangers(server, CONNECTIONS_MAX);
  server.setTimeout(SILENT_SOCKET_TIMEOUT_MS);
  return server;
};

const listen = async (server: Server, address: ListenAddress): Promise<void> => {
  if (address.path !== undefined) await freeSocketPath(address.path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...address }, () => {
      server.off('error', reject);
      resolve();
    });
  });
};

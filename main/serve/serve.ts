import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { messageOf, ReasonError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { Strangers } from '../../core/base/node/strangers.ts';
import type { Handlers } from '../../core/contract/index.ts';
import type { ExtensionPage } from '../extensions/extension-page.ts';
import { createAccess, type Access } from './access.ts';
import { redirectHome, refuse, REFUSALS, sendExtensionPage, sendFile } from './answers.ts';
import { createContractSockets, type ContractSockets } from './contract-sockets.ts';
import {
  isForeignFetch,
  isOwnHost,
  isOwnOrigin,
  readCookie,
  sessionCookie,
  sessionCookieName,
  statusOfClientError,
} from './request-check.ts';
import { readStaticFiles, type StaticFiles } from './static-files.ts';
import { ensureTlsIdentity } from './tls-identity.ts';

const HOST = '127.0.0.1';
/** Without the WebSockets of people who are signed in; past it the oldest is closed. */
const CONNECTIONS_MAX = 256;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const CERTIFICATE_CHECK_INTERVAL_MS = 12 * 60 * 60 * 1000;

export interface ServeOptions {
  readonly dataDirectory: string;
  /** The built console. */
  readonly pagesDirectory: string;
  readonly handlers: Handlers;
  /** Documents of extensions by their path; undefined for every other path. */
  readonly extensionPage: (path: string) => Promise<ExtensionPage | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 picks a free one. */
  readonly port?: number;
}

export interface ServeStats {
  readonly socketCount: number;
  readonly openStreamCount: number;
  readonly sessionCount: number;
}

export interface Serving {
  /** With a one-time token: anyone who opens it first is signed in. */
  readonly url: string;
  readonly port: number;
  /** The authority behind the certificate, for browsers that should trust it. */
  readonly authorityPath: string;
  readonly authorityPem: string;
  /** Another link; earlier ones stay good until used or expired. */
  mintUrl(): string;
  stats(): ServeStats;
  close(): Promise<void>;
}

interface Parts {
  readonly port: () => number;
  readonly access: Access;
  readonly files: StaticFiles;
  readonly extensionPage: ServeOptions['extensionPage'];
  readonly log: Log;
  readonly sockets: ContractSockets;
  readonly strangers: Strangers;
}

const isSignedIn = (request: IncomingMessage, { access, port }: Parts): boolean =>
  access.admits(readCookie(request.headers, sessionCookieName(port())));

const addressOf = (request: IncomingMessage): URL | undefined =>
  URL.canParse(request.url ?? '', `https://${HOST}`)
    ? new URL(request.url ?? '', `https://${HOST}`)
    : undefined;

/** A file of the console; failing that, the document of an extension. */
const answerWithFile = async (
  request: IncomingMessage,
  response: ServerResponse,
  { path, parts }: { readonly path: string; readonly parts: Parts },
): Promise<void> => {
  const file = parts.files.get(path);
  if (file) return sendFile(request, response, file);
  const page = await parts.extensionPage(path).catch((error: unknown) => {
    parts.log.write('warn', 'the page of an extension could not be read', { error });
    return undefined;
  });
  if (page) sendExtensionPage(request, response, page);
  else refuse(request, response, REFUSALS.missing);
};

/** The order matters: nothing is told to a foreign host name, and a token is not spent by a foreign page. */
const answer = (request: IncomingMessage, response: ServerResponse, parts: Parts): void => {
  const { headers, method } = request;
  if (!isOwnHost(headers, parts.port())) return refuse(request, response, REFUSALS.foreignHost);
  if (isForeignFetch(headers)) return refuse(request, response, REFUSALS.foreignOrigin);
  if (method !== 'GET' && method !== 'HEAD') {
    if (!isOwnOrigin(headers)) return refuse(request, response, REFUSALS.foreignOrigin);
    return refuse(request, response, REFUSALS.method, { Allow: 'GET, HEAD' });
  }
  const address = addressOf(request);
  const token = address?.pathname === '/' ? address.searchParams.get('token') : null;
  if (token !== null && method === 'GET') {
    const session = parts.access.redeem(token);
    if (session === undefined) return refuse(request, response, REFUSALS.usedLink);
    return redirectHome(response, sessionCookie(parts.port(), session));
  }
  if (!isSignedIn(request, parts)) return refuse(request, response, REFUSALS.signedOut);
  void answerWithFile(request, response, { path: address?.pathname ?? '', parts });
};

const refuseUpgrade = (socket: Duplex, status: string): void => {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
};

const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer, parts: Parts): void => {
  if (!isOwnHost(request.headers, parts.port())) return refuseUpgrade(socket, '421 Misdirected Request');
  if (!isOwnOrigin(request.headers)) return refuseUpgrade(socket, '403 Forbidden');
  if (!isSignedIn(request, parts)) return refuseUpgrade(socket, '401 Unauthorized');
  if (addressOf(request)?.pathname !== '/contract') return refuseUpgrade(socket, '404 Not Found');
  parts.strangers.recognize(socket as Socket);
  parts.sockets.upgrade(request, socket, head, () => void isSignedIn(request, parts));
};

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === 'EADDRINUSE' ? 'it is already in use; choose another with --port' : messageOf(cause);
      reject(new ReasonError('Unavailable', `cannot listen on ${HOST}:${port}: ${why}`, { cause }));
    });
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });

/** Serves the console to browsers of this machine, over HTTPS on loopback. */
export const startServe = async (options: ServeOptions): Promise<Serving> => {
  const { clock, log, handlers, extensionPage } = options;
  const files = await readStaticFiles(options.pagesDirectory);
  const identity = await ensureTlsIdentity(options);
  const access = createAccess(clock);
  const sockets = createContractSockets({ handlers, clock, log });
  let port = 0;
  const strangers = new Strangers(CONNECTIONS_MAX);
  const parts: Parts = { port: () => port, access, files, extensionPage, log, sockets, strangers };

  const server = createServer(
    {
      cert: identity.certificatePem,
      key: identity.privateKeyPem,
      minVersion: 'TLSv1.3',
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    (request, response) => answer(request, response, parts),
  );
  server.on('connection', (socket) => strangers.add(socket as Socket));
  server.on('upgrade', (request, socket, head) => {
    // A browser that goes away during the handshake is no failure of ours, but must be heard.
    socket.on('error', (error) => log.write('debug', 'a TLS handshake timed out', { error }));
    upgrade(request, socket, head, parts);
  });
  server.on('clientError', (error, socket) => {
    if (socket.writable) refuseUpgrade(socket, statusOfClientError(error));
    else socket.destroy();
  });
  server.on('tlsClientError', (error) => log.write('debug', 'a TLS handshake failed', { error }));

  port = await listen(server, options.port ?? 0);
  server.on('error', (error) => log.write('error', 'the console server failed', { error }));
  const mintUrl = (): string => `https://${HOST}:${port}/?token=${access.mintToken()}`;

  let renewal: Disposable;
  const renewLater = (): void => {
    renewal = clock.after(CERTIFICATE_CHECK_INTERVAL_MS, () => {
      ensureTlsIdentity(options).then(
        ({ certificatePem, privateKeyPem }) =>
          server.setSecureContext({ cert: certificatePem, key: privateKeyPem, minVersion: 'TLSv1.3' }),
        (error: unknown) => log.write('error', 'failed to renew the certificate of the console', { error }),
      );
      renewLater();
    });
  };
  renewLater();

  return {
    url: mintUrl(),
    port,
    authorityPath: identity.authorityPath,
    authorityPem: identity.authorityPem,
    mintUrl,
    stats: () => ({
      socketCount: sockets.socketCount,
      openStreamCount: sockets.openStreamCount,
      sessionCount: access.sessionCount,
    }),
    async close() {
      renewal.dispose();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await sockets.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

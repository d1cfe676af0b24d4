import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { hasReason, messageOf, ReasonError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { EXPOSITION_CONTENT_TYPE, type Registry } from '../base/metrics/index.ts';
import { boundStrangers } from '../base/node/strangers.ts';
import { tlsSettings, type TlsSettings } from '../base/node/tls-settings.ts';
import { certificateCaller, DEFAULT_FRONT_PROXY, type FrontProxyRules } from './callers.ts';
import { parseAnchors } from '../pki/anchors.ts';
import type { Caller, DelegatedAccess } from './delegated-access.ts';
import type { HealthRegistry } from './health.ts';

export interface ServingFiles {
  readonly cert: Buffer | string;
  readonly key: Buffer | string;
  /** Authority of client certificates; absent: callers bring tokens. */
  readonly clientCa?: Buffer | string | undefined;
  /** Authority of front proxies, whose headers say for whom they speak. */
  readonly frontProxyCa?: Buffer | string | undefined;
}

export interface PageRequest {
  readonly url: URL;
  readonly method: string;
  /** The body, which must be JSON. */
  json(): Promise<unknown>;
}

/** A page of the component's own: answers JSON, or undefined where there is nothing. */
export type Page = (request: PageRequest) => Promise<unknown>;

export interface SecureServerOptions {
  readonly serving: ServingFiles;
  /** Versions and cipher suites; absent: the defaults. */
  readonly tls?: TlsSettings | undefined;
  readonly health: HealthRegistry;
  readonly metrics: Registry;
  /** By exact path. */
  readonly pages?: Readonly<Record<string, Page>>;
  /** Absent: only the health paths are answered. */
  readonly access?: DelegatedAccess | undefined;
  /** Paths that are answered without asking who wants it; one that ends in `*` stands for those it begins. */
  readonly openPaths?: readonly string[];
  readonly frontProxy?: FrontProxyRules;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SecureServer {
  listen(port: number, host: string): Promise<AddressInfo>;
  setServing(serving: ServingFiles): void;
  close(): Promise<void>;
}

/** Upstream's default of --authorization-always-allow-paths. */
export const OPEN_PATHS: readonly string[] = ['/healthz', '/readyz', '/livez'];
const HEALTH_PATH = /^\/(healthz|livez|readyz)(\/|$)/;
const REQUEST_TIMEOUT_MS = 30_000;
/** Past it the oldest is closed, so that a probe is always let in. */
const CONNECTIONS_MAX = 250;
const BODY_BYTES_MAX = 1024 * 1024;
const CLOSE_GRACE_MS = 1000;

const contextOf = ({ cert, key, clientCa, frontProxyCa }: ServingFiles, tls: TlsSettings) => {
  const authorities = [clientCa, frontProxyCa].filter((bundle) => bundle !== undefined);
  return { ...tls, cert, key, ...(authorities.length > 0 && { ca: authorities }) };
};

const anchorsOf = ({ clientCa, frontProxyCa }: ServingFiles) => ({
  clients: parseAnchors(clientCa),
  frontProxies: parseAnchors(frontProxyCa),
});

/** As upstream's path authorizer: the path itself, or a prefix that ends in `*`. */
const isOpen = (path: string, openPaths: readonly string[]): boolean =>
  openPaths.some((open) => (open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : path === open));

const sendText = (
  response: ServerResponse,
  code: number,
  text: string,
  type = 'text/plain; charset=utf-8',
) => {
  response.writeHead(code, { 'content-type': type, 'x-content-type-options': 'nosniff' });
  response.end(text);
};

const parseUrl = (request: IncomingMessage): URL => {
  try {
    return new URL(request.url ?? '/', 'https://localhost');
  } catch (cause) {
    throw new ReasonError('BadRequest', 'the request target is not a valid URL', { cause });
  }
};

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES_MAX)
      throw new ReasonError('TooLarge', `the body is larger than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new ReasonError('BadRequest', `the body is not JSON: ${messageOf(cause)}`, { cause });
  }
};

/** The HTTPS port of a manager: health for everybody, the rest for whom the API server lets. */
export const createSecureServer = (options: SecureServerOptions): SecureServer => {
  const { health, metrics, access, log, tls = tlsSettings() } = options;
  const { openPaths = OPEN_PATHS, frontProxy = DEFAULT_FRONT_PROXY, clock } = options;
  const pages = new Map(Object.entries(options.pages ?? {}));
  let anchors = anchorsOf(options.serving);

  const callerOf = async (request: IncomingMessage): Promise<Caller | undefined> => {
    const { headersDistinct: headers } = request;
    const socket = request.socket as TLSSocket;
    const known = certificateCaller({ socket, headers, nowMs: clock.nowMs() }, { ...anchors, frontProxy });
    if (known) return known;
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    return token === undefined ? undefined : access?.reviewToken(token);
  };

  const refuse = async (
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<boolean> => {
    const caller = await callerOf(request);
    if (caller === undefined) {
      sendText(response, 401, 'Unauthorized\n');
      return true;
    }
    const verb = (request.method ?? 'GET').toLowerCase();
    if (access && (await access.mayAccess(caller, { verb, path }))) return false;
    sendText(response, 403, `Forbidden: user "${caller.name}" cannot ${verb} path "${path}"\n`);
    return true;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = parseUrl(request);
    const { pathname } = url;
    if (!isOpen(pathname, openPaths) && (await refuse(request, response, pathname))) return;
    if (HEALTH_PATH.test(pathname)) {
      const answer = await health.answer(pathname, url.searchParams, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
      sendText(response, answer?.code ?? 404, answer?.text ?? '404 page not found\n');
      return;
    }
    if (pathname === '/metrics') {
      sendText(response, 200, metrics.expose(), EXPOSITION_CONTENT_TYPE);
      return;
    }
    const json = (): Promise<unknown> => readJson(request);
    const body = await pages.get(pathname)?.({ url, method: request.method ?? 'GET', json });
    if (body === undefined) sendText(response, 404, '404 page not found\n');
    else sendText(response, 200, `${JSON.stringify(body)}\n`, 'application/json');
  };

  const server: Server = createServer(
    {
      ...contextOf(options.serving, tls),
      requestCert: true,
      // Asked for, not required: probes and tokens come without, and the check above decides.
      rejectUnauthorized: false,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    (request, response) => {
      serve(request, response).catch((error: unknown) => {
        log.write('warn', 'a request to the secure port failed', { path: request.url, error });
        const isCallers = hasReason(error, 'BadRequest') || hasReason(error, 'TooLarge');
        if (!response.headersSent) sendText(response, isCallers ? 400 : 500, `${messageOf(error)}\n`);
        else response.destroy();
      });
    },
  );
  boundStrangers(server, CONNECTIONS_MAX);

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', (cause) =>
          reject(
            new ReasonError(
              'CannotListen',
              `cannot listen on ${host}:${port} (--bind-address, --secure-port): ${messageOf(cause)}`,
              { cause },
            ),
          ),
        );
        server.listen(port, host, () => resolve(server.address() as AddressInfo));
      }),
    // A new context starts from Node's defaults: without the settings a renewal would bring weak suites back.
    setServing(serving) {
      server.setSecureContext(contextOf(serving, tls));
      anchors = anchorsOf(serving);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = options.clock.after(CLOSE_GRACE_MS, () => server.closeAllConnections());
      await closed;
      cut.dispose();
    },
  };
};

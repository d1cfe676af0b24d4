import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { hasReason, messageOf, ReasonError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { EXPOSITION_CONTENT_TYPE, type Registry } from '../base/metrics/index.ts';
import { inspectDer } from '../pki/index.ts';
import type { Caller, DelegatedAccess } from './delegated-access.ts';
import type { HealthRegistry } from './health.ts';

export interface ServingFiles {
  readonly cert: Buffer | string;
  readonly key: Buffer | string;
  /** Authority of client certificates; absent: callers bring tokens. */
  readonly clientCa?: Buffer | string | undefined;
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
  readonly health: HealthRegistry;
  readonly metrics: Registry;
  /** By exact path. */
  readonly pages?: Readonly<Record<string, Page>>;
  /** Absent: only the health paths are answered. */
  readonly access?: DelegatedAccess | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SecureServer {
  listen(port: number, host: string): Promise<AddressInfo>;
  setServing(serving: ServingFiles): void;
  close(): Promise<void>;
}

const OPEN_PATHS = /^\/(healthz|livez|readyz)(\/|$)/;
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_MAX = 500;
const BODY_BYTES_MAX = 1024 * 1024;
const CLOSE_GRACE_MS = 1000;

const contextOf = ({ cert, key, clientCa }: ServingFiles) => ({
  cert,
  key,
  ...(clientCa !== undefined && { ca: clientCa }),
});

const certificateCaller = (socket: TLSSocket): Caller | undefined => {
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const { commonName, organizations } = inspectDer(certificate.raw).subject;
  return { name: commonName, groups: [...organizations, 'system:authenticated'] };
};

const sendText = (
  response: ServerResponse,
  code: number,
  text: string,
  type = 'text/plain; charset=utf-8',
) => {
  response.writeHead(code, { 'content-type': type, 'x-content-type-options': 'nosniff' });
  response.end(text);
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
  const { health, metrics, access, log } = options;
  const pages = new Map(Object.entries(options.pages ?? {}));

  const callerOf = async (request: IncomingMessage): Promise<Caller | undefined> => {
    const known = certificateCaller(request.socket as TLSSocket);
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
    const url = new URL(request.url ?? '/', 'https://localhost');
    const { pathname } = url;
    if (OPEN_PATHS.test(pathname)) {
      const answer = await health.answer(pathname, url.searchParams, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
      sendText(response, answer?.code ?? 404, answer?.text ?? '404 page not found\n');
      return;
    }
    if (await refuse(request, response, pathname)) return;
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
      ...contextOf(options.serving),
      minVersion: 'TLSv1.2',
      requestCert: true,
      // Asked for, not required: probes and tokens come without, and the check above decides.
      rejectUnauthorized: false,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    (request, response) => {
      serve(request, response).catch((error: unknown) => {
        log.write('warn', 'a request of the secure port failed', { path: request.url, error });
        const isCallers = hasReason(error, 'BadRequest') || hasReason(error, 'TooLarge');
        if (!response.headersSent) sendText(response, isCallers ? 400 : 500, `${messageOf(error)}\n`);
        else response.destroy();
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;

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
    setServing: (serving) => server.setSecureContext(contextOf(serving)),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = options.clock.after(CLOSE_GRACE_MS, () => server.closeAllConnections());
      await closed;
      cut.dispose();
    },
  };
};

import { request as httpsRequest } from 'node:https';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { badRequest, serviceUnavailable } from '../../api/meta/index.ts';
import type { ApiRequest } from '../server/request.ts';
import type { ApiResponse } from '../server/response.ts';
import type { RequestContext } from '../server/context.ts';
import { dialErrorText, DialTimeout } from './dial-error.ts';
import { forwardedHeaders, returnedHeaders } from './forwarded-headers.ts';
import { rewriteLocation } from './proxy-path.ts';
import { tunnel } from './tunnel.ts';

/** Another server that answers a request in this one's place. */
export interface Backend {
  readonly host: string;
  readonly port: number;
  /** Path and query, escaped. */
  readonly path: string;
  /** Absent: plain text, as services and pods speak. */
  readonly tls?: ConnectionOptions | undefined;
  readonly connectTimeoutMs: number;
  /** Set in place of what the client sent under these names: whom this server speaks for. */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

export interface ForwardOptions {
  /** The path of this server up to where the proxied part begins; absent where nothing is to be rewritten. */
  readonly prefix?: string;
  /** exec, attach and port forwarding mean nothing without a stream. */
  readonly upgradeRequired?: boolean;
}

export const hostAndPort = ({ host, port }: Pick<Backend, 'host' | 'port'>): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Sends the request there and the answer back, as it comes. */
export const forwardRequest = async (
  context: RequestContext,
  backend: Backend,
  { prefix, upgradeRequired = false }: ForwardOptions = {},
): Promise<void> => {
  const { request } = context;
  if (request.isUpgrade) return tunnel(context, backend);
  if (upgradeRequired) throw badRequest('Upgrade request required');
  const body = await request.body();
  const answer = await ask(context, backend, {
    headers: headersFor(context, backend),
    ...(body.byteLength > 0 && { body }),
  }).catch((error: unknown) => {
    throw serviceUnavailable(`error trying to reach service: ${dialErrorText(backend, error)}`);
  });
  await giveBack(context, answer, (location) =>
    prefix === undefined
      ? location
      : rewriteLocation(location, {
          prefix,
          backendHost: hostAndPort(backend),
          requestHost: request.headers.get('host') ?? '',
        }),
  );
};

/** The headers of the request to a backend. */
export const headersFor = (
  context: RequestContext,
  { headers = {} }: Pick<Backend, 'headers'>,
): OutgoingHttpHeaders => ({
  ...forwardedHeaders(context),
  ...Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]])),
});

/** Answers the client with what a backend answered. */
export const giveBack = async (
  { response }: RequestContext,
  answer: IncomingMessage,
  rewrite: (location: string) => string = (location) => location,
): Promise<void> => {
  for (const [name, value] of returnedHeaders(answer.headers))
    response.setHeader(name, name === 'location' && typeof value === 'string' ? rewrite(value) : value);
  response.begin(answer.statusCode ?? 502);
  await copyBody(answer, response);
};

/** To its end, at the pace of the slower side. */
export const copyBody = async (answer: IncomingMessage, response: ApiResponse): Promise<void> => {
  try {
    for await (const chunk of answer) await response.write(chunk as Uint8Array);
  } finally {
    answer.destroy();
  }
  await response.end();
};

export interface AskOptions {
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  /** Called instead of resolving where the backend switches protocols; without it that is a failure. */
  readonly onSwitched?: (answer: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Resolves with the head of the backend's answer; fails with what Node says of the connection. */
export const ask = (
  { request }: { readonly request: Pick<ApiRequest, 'method' | 'signal'> },
  backend: Backend,
  { headers, body, onSwitched }: AskOptions,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const common = {
      host: backend.host,
      port: backend.port,
      path: backend.path,
      method: request.method,
      headers,
      signal: request.signal,
      agent: false as const,
    };
    const sending = backend.tls
      ? httpsRequest({ ...backend.tls, ...common }, resolve)
      : httpRequest(common, resolve);
    const late = setTimeout(() => {
      sending.destroy(new DialTimeout());
    }, backend.connectTimeoutMs);
    sending.once('socket', (socket) =>
      socket.once(backend.tls ? 'secureConnect' : 'connect', () => clearTimeout(late)),
    );
    // For good: a connection may fail a second time after its first failure was told.
    sending.on('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    if (onSwitched)
      sending.once('upgrade', (answer, socket, head) => {
        resolve(answer);
        onSwitched(answer, socket, head);
      });
    sending.end(body);
  });

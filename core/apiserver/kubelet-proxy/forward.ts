import { request as httpsRequest } from 'node:https';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { badRequest, serviceUnavailable, StatusError } from '../../api/meta/index.ts';
import type { ApiResponse, RequestContext, RequestHeaders } from '../server/index.ts';
import { dialErrorText, DialTimeout } from './dial-error.ts';

/** Another server that answers a request in this one's place. */
export interface Backend {
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
  /** Absent: plain text, as services and pods speak. */
  readonly tls?: ConnectionOptions | undefined;
  readonly connectTimeoutMs: number;
}

/** Of one connection, not of the request; and the caller's credentials, which are for this server alone. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'host',
  'authorization',
  'http2-settings',
]);

const forwardedHeaders = (headers: RequestHeaders): Record<string, string[]> => {
  const forwarded: Record<string, string[]> = {};
  for (const [name, values] of headers.entries())
    if (!NOT_FORWARDED.has(name) && !name.startsWith('impersonate-')) forwarded[name] = [...values];
  return forwarded;
};

/** Sends the request there and the answer back, as it comes. */
export const forwardRequest = async (context: RequestContext, backend: Backend): Promise<void> => {
  const { request } = context;
  const upgrade = request.headers.get('upgrade');
  if (upgrade !== undefined && request.protocol === 'HTTP/1.1') {
    await tunnel(context, backend, upgrade);
    return;
  }
  const body = request.method === 'GET' || request.method === 'HEAD' ? undefined : await request.body();
  const headers = forwardedHeaders(request.headers);
  const answer = await ask(context, backend, { headers, body }).catch((error: unknown) => {
    throw serviceUnavailable(`error trying to reach service: ${dialErrorText(backend, error)}`);
  });
  const { response } = context;
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined && !NOT_FORWARDED.has(name)) response.setHeader(name, value);
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

/** Resolves with the head of the backend's answer; fails with what Node says of the connection. */
export const ask = (
  { request }: RequestContext,
  backend: Backend,
  { headers, body }: { readonly headers: OutgoingHttpHeaders; readonly body?: Uint8Array | undefined },
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
    sending.once('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    sending.end(body);
  });

const dial = (backend: Backend, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { host, port, tls } = backend;
    const socket = tls
      ? connectTls({ ...tls, host, port, ALPNProtocols: ['http/1.1'] })
      : connectTcp({ host, port });
    const finish = (error?: unknown): void => {
      clearTimeout(late);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', finish);
      if (error === undefined) {
        resolve(socket);
        return;
      }
      socket.destroy();
      const text = `error dialing backend: ${dialErrorText(backend, error)}`;
      reject(new StatusError('', text, { code: 500, cause: error }));
    };
    const onAbort = (): void => finish(new Error('the client is gone'));
    const late = setTimeout(() => finish(new DialTimeout()), backend.connectTimeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', finish);
    socket.once(tls ? 'secureConnect' : 'connect', () => finish());
  });

/** The backend answers the upgrade itself: from its status line on, bytes pass unseen in both directions. */
const tunnel = async (context: RequestContext, backend: Backend, protocol: string): Promise<void> => {
  const { request, response } = context;
  const upstream = await dial(backend, request.signal);
  const client = request.upgrade();
  if (client === undefined) {
    upstream.destroy();
    throw badRequest('Upgrade request required');
  }
  response.hijacked(101);
  const lines = [
    `${request.method} ${backend.path} HTTP/1.1`,
    `Host: ${backend.host}:${backend.port}`,
    'Connection: Upgrade',
    `Upgrade: ${protocol}`,
  ];
  for (const [name, values] of Object.entries(forwardedHeaders(request.headers)))
    for (const value of values) lines.push(`${name}: ${value}`);
  upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (client.head.byteLength > 0) upstream.write(client.head);
  const { socket } = client;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      upstream.destroy();
      socket.destroy();
      resolve();
    };
    for (const end of [upstream, socket]) {
      end.once('error', finish);
      end.once('close', finish);
    }
    upstream.pipe(socket);
    socket.pipe(upstream);
  });
};

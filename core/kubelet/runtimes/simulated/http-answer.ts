import type { IncomingMessage, ServerResponse } from 'node:http';

/** Who answers. */
export interface Responder {
  readonly pod: string;
  readonly namespace: string;
  readonly node: string;
  readonly container: string;
  readonly revision: string | undefined;
  readonly ip: string;
  readonly isUp: () => boolean;
  readonly onRequest: (line: string) => void;
}

const BODY_BYTES_MAX = 64 * 1024;

/**
 * The path and the query of a request line. It is the client's text: `//`, an absolute form or bytes that no URL has
 * are as good as any other path.
 */
const splitTarget = (target: string): { readonly path: string; readonly query: URLSearchParams } => {
  const withoutOrigin = target.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  const at = withoutOrigin.indexOf('?');
  const path = at < 0 ? withoutOrigin : withoutOrigin.slice(0, at);
  return {
    path: path === '' ? '/' : path,
    query: new URLSearchParams(at < 0 ? '' : withoutOrigin.slice(at)),
  };
};

const wantsText = (request: IncomingMessage, query: URLSearchParams): boolean => {
  const format = query.get('format');
  if (format !== null) return format === 'text';
  const accept = request.headers.accept ?? '';
  return /text\/(plain|html)/.test(accept) && !accept.includes('application/json');
};

/** `2026-01-01T00:00:00Z 127.0.0.1 GET / 200`: as a web server's access log. */
const logLine = (request: IncomingMessage, status: number): string =>
  `${request.socket.remoteAddress ?? 'local'} "${request.method ?? ''} ${request.url ?? '/'} HTTP/${request.httpVersion}" ${status} "${request.headers['user-agent'] ?? '-'}"`;

/** Tells who answered, so that load balancing and rollouts can be watched with `curl`. */
export const answerHttp = (
  responder: Responder,
  nowMs: number,
  request: IncomingMessage,
  response: ServerResponse,
): void => {
  const { path, query } = splitTarget(request.url ?? '/');
  let receivedBytes = 0;
  request.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes > BODY_BYTES_MAX) request.destroy();
  });
  const asked = Number(/^\/status\/(\d{3})$/.exec(path)?.[1]);
  const status = !responder.isUp() ? 503 : asked >= 200 && asked <= 599 ? asked : 200;
  const facts = {
    pod: responder.pod,
    namespace: responder.namespace,
    node: responder.node,
    container: responder.container,
    ...(responder.revision !== undefined && { revision: responder.revision }),
    ip: responder.ip,
    method: request.method,
    path,
    time: new Date(nowMs).toISOString(),
  };
  const isText = wantsText(request, query);
  const body = isText
    ? Object.entries(facts)
        .map(([key, value]) => `${key}: ${String(value)}\n`)
        .join('')
    : `${JSON.stringify(facts)}\n`;
  response.writeHead(status, {
    'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Pod-Name': responder.pod,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  // Ten thousand pods that log their probes would fill the memory with nothing.
  if (!(request.headers['user-agent'] ?? '').startsWith('kube-probe/'))
    responder.onRequest(logLine(request, status));
};

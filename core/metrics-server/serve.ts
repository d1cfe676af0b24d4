import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { messageOf, ReasonError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { boundStrangers } from '../base/node/strangers.ts';
import { tlsSettings } from '../base/node/tls-settings.ts';
import { badRequest, isStatusError, type KubernetesObject } from '../api/meta/index.ts';
import { parseFieldSelector, parseLabelSelector } from '../api/selector/index.ts';
import { certificateCaller, type FrontProxyRules } from '../component/callers.ts';
import type { DelegatedAccess } from '../component/delegated-access.ts';
import { parseAnchors } from '../pki/anchors.ts';
import {
  API_GROUP,
  GROUP,
  listOf,
  missing,
  RESOURCE_LIST,
  tableOf,
  VERSION,
  type Resource,
} from './documents.ts';
import type { MetricsServer } from './metrics-server.ts';

export interface MetricsServing {
  readonly cert: string;
  readonly key: string;
  /** Authority of the front proxies: no one else is let in. */
  readonly frontProxyCa: string;
}

export interface ServeOptions {
  readonly metrics: MetricsServer;
  readonly access: DelegatedAccess;
  readonly frontProxy: FrontProxyRules;
  readonly serving: MetricsServing;
  readonly clock: Clock;
  readonly log: Log;
}

export interface MetricsListener {
  readonly address: AddressInfo;
  close(): Promise<void>;
}

const ROOT = `/apis/${GROUP}/${VERSION}`;
/** As in every extension server: allowed without a question. The aggregator's own checks come as it. */
const PRIVILEGED_GROUP = 'system:masters';
/** Connections without a front proxy's certificate. Past it the oldest is closed, so that an API server is always let in. */
const STRANGERS_MAX = 200;
const ORIGIN = 'https://metrics-server';
const REQUEST_TIMEOUT_MS = 30_000;

interface Route {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/** Undefined for a path that is not there. */
export const routeOf = (path: string): Route | undefined => {
  const parts = path.slice(ROOT.length + 1).split('/');
  const [first = '', second = ''] = parts;
  if (first === 'nodes' && parts.length <= 2) return { resource: 'nodes', namespace: '', name: second };
  if (first === 'pods' && parts.length === 1) return { resource: 'pods', namespace: '', name: '' };
  if (first === 'namespaces' && parts[2] === 'pods' && parts.length <= 4 && second !== '')
    return { resource: 'pods', namespace: second, name: parts[3] ?? '' };
  return undefined;
};

const send = (response: ServerResponse, code: number, body: object): void => {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(code, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache, private',
  });
  response.end(text);
};

const status = (code: number, reason: string, message: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});

const selectorsOf = (query: URLSearchParams) => {
  try {
    return {
      labels: parseLabelSelector(query.get('labelSelector') ?? ''),
      fields: parseFieldSelector(query.get('fieldSelector') ?? ''),
    };
  } catch (error) {
    throw badRequest(messageOf(error));
  }
};

const wantsTable = ({ headers }: IncomingMessage): boolean => /as=Table/.test(headers.accept ?? '');

/** The HTTPS port of the metrics API. */
export const serveMetrics = async (
  options: ServeOptions,
  place: { readonly host: string; readonly port: number },
): Promise<MetricsListener> => {
  const { metrics, access, frontProxy, serving, clock, log } = options;
  const frontProxies = parseAnchors(serving.frontProxyCa);
  const clients = parseAnchors(undefined);

  const answerMetrics = async (
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    url: URL,
  ) => {
    const { resource, namespace, name } = route;
    let items: readonly KubernetesObject[];
    if (name !== '') {
      const found = await metrics.get(resource, namespace, name);
      if (!found) throw missing(resource, namespace, name);
      if (!wantsTable(request)) return send(response, 200, found);
      items = [found];
    } else items = await metrics.list({ resource, namespace, ...selectorsOf(url.searchParams) });
    send(response, 200, wantsTable(request) ? tableOf(items) : listOf(resource, items));
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const caller = certificateCaller(
      {
        socket: request.socket as TLSSocket,
        headers: request.headersDistinct,
        nowMs: clock.nowMs(),
      },
      { clients, frontProxies, frontProxy },
    );
    if (!caller) return send(response, 401, status(401, 'Unauthorized', 'Unauthorized'));
    const target = request.url ?? '/';
    if (!URL.canParse(target, ORIGIN))
      return send(response, 400, status(400, 'BadRequest', 'invalid request path'));
    const url = new URL(target, ORIGIN);
    const path = url.pathname.replace(/\/$/, '');
    const route = path.startsWith(`${ROOT}/`) ? routeOf(path) : undefined;
    const verb = (request.method ?? 'GET').toLowerCase();
    const isAllowed =
      caller.groups.includes(PRIVILEGED_GROUP) ||
      (await access.mayAccess(caller, {
        verb: route ? (route.name === '' ? 'list' : 'get') : verb,
        path,
        ...(route && { resource: { group: GROUP, subresource: '', ...route } }),
      }));
    if (!isAllowed)
      return send(
        response,
        403,
        status(403, 'Forbidden', `User "${caller.name}" cannot ${verb} path "${path}"`),
      );
    if (verb !== 'get')
      return send(
        response,
        405,
        status(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource'),
      );
    if (path === ROOT) return send(response, 200, RESOURCE_LIST);
    if (path === `/apis/${GROUP}`) return send(response, 200, API_GROUP);
    if (path === '/healthz' || path === '/livez' || path === '/readyz')
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    if (!route)
      return send(response, 404, status(404, 'NotFound', 'the server could not find the requested resource'));
    await answerMetrics(request, response, route, url);
  };

  const server = createServer(
    {
      ...tlsSettings(),
      cert: serving.cert,
      key: serving.key,
      ca: serving.frontProxyCa,
      requestCert: true,
      rejectUnauthorized: true,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        if (response.headersSent) return void response.destroy();
        if (isStatusError(error)) return send(response, error.code, error.status);
        log.write('warn', 'a request for metrics failed', { path: request.url, error: messageOf(error) });
        send(response, 500, status(500, 'InternalError', messageOf(error)));
      });
    },
  );
  const strangers = boundStrangers(server, STRANGERS_MAX);
  // A handshake without a front proxy's certificate fails, so every peer that completes one is known.
  server.on('secureConnection', (socket) => strangers.recognize(socket));
  server.on('tlsClientError', (error) =>
    log.write('debug', 'TLS handshake failed', { error: messageOf(error) }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new ReasonError('CannotListen', `cannot listen on ${place.host}:${place.port}: ${messageOf(cause)}`, {
          cause,
        }),
      ),
    );
    server.listen(place.port, place.host, resolve);
  });
  return {
    address: server.address() as AddressInfo,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

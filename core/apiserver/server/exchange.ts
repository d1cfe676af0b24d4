import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { bodyReader, readableBody, type BodySource } from './body.ts';
import { RequestHeaders } from './headers.ts';
import { http1Outbound } from './outbound.ts';
import { peerOf } from './peer.ts';
import { RequestAbort } from './request-abort.ts';
import type { ApiRequest, UpgradedConnection } from './request.ts';
import { ApiResponse, type Outbound } from './response.ts';

/** A request and its answer, made of either protocol. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  /** False when the path is not valid percent-encoding. */
  readonly isPathValid: boolean;
  /** Fires the request's signal. */
  abort(reason: unknown): void;
}

export interface Incoming {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly protocol: ApiRequest['protocol'];
  readonly socket: TLSSocket;
  readonly body: BodySource;
  readonly declaredBytes: number | undefined;
  readonly outbound: Outbound;
  readonly draining: AbortSignal;
  readonly takeOver?: () => UpgradedConnection;
}

const SWITCHING_PROTOCOLS = 101;
/** Shared: no one changes what a client asked. */
const NO_QUERY = new URLSearchParams();
const QUALITY_ZERO = /;\s*q=0(\.0*)?\s*$/;
const acceptsGzip = (headers: RequestHeaders): boolean =>
  headers
    .all('accept-encoding')
    .flatMap((value) => value.split(','))
    .some((coding) => coding.trim().toLowerCase().split(';')[0] === 'gzip' && !QUALITY_ZERO.test(coding));

const decodePath = (path: string): string | undefined => {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
};

export const declaredBytesOf = (headers: RequestHeaders): number | undefined => {
  const text = headers.get('content-length');
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
};

interface RequestParts extends Omit<ApiRequest, 'query' | 'signal'> {
  readonly aborting: RequestAbort;
}

/**
 * The request as stages see it. A class for its two getters: in an object literal they are closures of each request,
 * and every request would get a hidden class of its own, which V8 keeps until the next full collection.
 */
class IncomingRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly protocol: ApiRequest['protocol'];
  readonly peer: ApiRequest['peer'];
  readonly draining: AbortSignal;
  readonly body: ApiRequest['body'];
  readonly isUpgrade: boolean;
  readonly upgrade: ApiRequest['upgrade'];
  readonly #aborting: RequestAbort;
  #query: URLSearchParams | undefined;

  constructor(parts: RequestParts) {
    this.method = parts.method;
    this.url = parts.url;
    this.path = parts.path;
    this.headers = parts.headers;
    this.protocol = parts.protocol;
    this.peer = parts.peer;
    this.draining = parts.draining;
    this.body = parts.body;
    this.isUpgrade = parts.isUpgrade;
    this.upgrade = parts.upgrade;
    this.#aborting = parts.aborting;
  }

  get query(): URLSearchParams {
    if (this.#query === undefined) {
      const mark = this.url.indexOf('?');
      this.#query = mark < 0 ? NO_QUERY : new URLSearchParams(this.url.slice(mark + 1));
    }
    return this.#query;
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }
}

export const createExchange = (incoming: Incoming): Exchange => {
  const { method, url, headers, protocol, socket, body, declaredBytes, outbound, draining, takeOver } =
    incoming;
  const aborting = new RequestAbort(() => body.abort());
  const mark = url.indexOf('?');
  const rawPath = mark < 0 ? url : url.slice(0, mark);
  const path = decodePath(rawPath);
  const response = new ApiResponse({
    outbound,
    isHead: method === 'HEAD',
    acceptsGzip: () => acceptsGzip(headers),
  });
  const request = new IncomingRequest({
    method,
    url,
    path: path ?? rawPath,
    headers,
    protocol,
    peer: peerOf(socket),
    aborting,
    draining,
    body: bodyReader({ source: body, declaredBytes, isAborted: () => aborting.aborted }),
    isUpgrade: takeOver !== undefined,
    upgrade() {
      if (!takeOver || response.started) return undefined;
      response.hijacked(SWITCHING_PROTOCOLS);
      return takeOver();
    },
  });
  return { request, response, isPathValid: path !== undefined, abort: (reason) => aborting.abort(reason) };
};

export interface Http1Parts {
  readonly message: IncomingMessage;
  readonly reply: ServerResponse;
  readonly draining: AbortSignal;
  /** Set where the client asks for another protocol: detaches the answer from the connection. */
  readonly takeOver?: () => UpgradedConnection;
}

export const http1Exchange = ({ message, reply, draining, takeOver }: Http1Parts): Exchange => {
  const headers = RequestHeaders.fromRaw(message.rawHeaders);
  const made = createExchange({
    method: message.method ?? 'GET',
    url: message.url ?? '/',
    headers,
    protocol: 'HTTP/1.1',
    socket: message.socket as TLSSocket,
    body: readableBody(message),
    declaredBytes: declaredBytesOf(headers),
    outbound: http1Outbound(reply, () => draining.aborted),
    draining,
    ...(takeOver && { takeOver }),
  });
  reply.once('close', () => {
    if (!reply.writableFinished && !made.response.ended) made.abort(new Error('the client is gone'));
  });
  reply.on('error', (error) => made.abort(error));
  // An answer that was detached from its connection is told of its end no more.
  if (takeOver) message.socket.once('close', () => made.abort(new Error('the client is gone')));
  return made;
};

import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../../base/errors.ts';
import { http1Exchange, type ExchangePeer, type HttpExchange } from './http-exchange.ts';

/** A request without a body: health, version, metrics. */
export interface PlainRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface PlainResponse {
  readonly status: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export type PlainHandler = (request: PlainRequest) => PlainResponse | Promise<PlainResponse>;
/** Answers what is not gRPC. */
export type HttpHandler = (exchange: HttpExchange) => void;

const TEXT = 'text/plain; charset=utf-8';
export const notFound: PlainResponse = { status: 404, contentType: TEXT, body: '404 page not found\n' };

const answerOf = async (handler: PlainHandler, method: string, target: string): Promise<PlainResponse> => {
  try {
    const at = target.indexOf('?');
    const path = at < 0 ? target : target.slice(0, at);
    return await handler({ method, path, query: new URLSearchParams(at < 0 ? '' : target.slice(at + 1)) });
  } catch (error) {
    return { status: 500, contentType: TEXT, body: `${messageOf(error)}\n` };
  }
};

export const sendPlain = (
  exchange: HttpExchange,
  { status, contentType, headers, body }: PlainResponse,
): void =>
  exchange.answer(
    { status, headers: { 'content-type': contentType ?? TEXT, ...headers } },
    Buffer.from(body),
  );

export const servePlain =
  (handler: PlainHandler): HttpHandler =>
  (exchange) =>
    void answerOf(handler, exchange.method, exchange.target).then((response) =>
      sendPlain(exchange, response),
    );

/** A stranger, for handlers that do not ask who calls. */
const UNNAMED: ExchangePeer = { address: '', secure: false, commonName: () => undefined };

export const servePlainOverHttp1 = (handler: PlainHandler) => {
  const serve = servePlain(handler);
  return (request: IncomingMessage, response: ServerResponse): void =>
    serve(http1Exchange(request, response, UNNAMED));
};

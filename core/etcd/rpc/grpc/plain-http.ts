import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../../base/errors.ts';
import { encodeHeaders } from '../../../base/node/http2/hpack.ts';
import type { Http2Stream } from '../../../base/node/http2/server/stream.ts';

/** A request that is not gRPC: health, version, metrics. Bodies are not read. */
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

const TEXT = 'text/plain; charset=utf-8';
export const notFound: PlainResponse = { status: 404, contentType: TEXT, body: '404 page not found\n' };

const answer = async (handler: PlainHandler, method: string, target: string): Promise<PlainResponse> => {
  try {
    const at = target.indexOf('?');
    const path = at < 0 ? target : target.slice(0, at);
    return await handler({ method, path, query: new URLSearchParams(at < 0 ? '' : target.slice(at + 1)) });
  } catch (error) {
    return { status: 500, contentType: TEXT, body: `${messageOf(error)}\n` };
  }
};

const headersOf = (response: PlainResponse, body: Buffer): Record<string, string> => ({
  'content-type': response.contentType ?? TEXT,
  'content-length': String(body.length),
  ...response.headers,
});

export const servePlainOverHttp1 =
  (handler: PlainHandler) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    void answer(handler, request.method ?? 'GET', request.url ?? '/').then((result) => {
      const body = Buffer.from(result.body);
      response.writeHead(result.status, headersOf(result, body));
      response.end(request.method === 'HEAD' ? undefined : body);
    });
  };

export const servePlainOverHttp2 = (handler: PlainHandler, stream: Http2Stream): void => {
  stream.owner = {
    onData: (bytes) => stream.consume(bytes.length),
    onEnd() {},
    onDrain() {},
    onClosed() {},
  };
  const method = stream.header(':method') ?? 'GET';
  void answer(handler, method, stream.header(':path') ?? '/').then((result) => {
    const body = Buffer.from(result.body);
    const fields = [{ name: ':status', value: String(result.status) }];
    for (const [name, value] of Object.entries(headersOf(result, body)))
      fields.push({ name: name.toLowerCase(), value });
    const head = encodeHeaders(fields);
    if (method === 'HEAD' || body.length === 0) stream.end(head);
    else {
      stream.sendHeaders(head);
      stream.sendData(body);
      stream.end();
    }
  });
};

import type { IncomingMessage, ServerResponse } from 'node:http';
import { encodeHeaders } from '../../../base/node/http2/hpack.ts';
import type { Http2Stream } from '../../../base/node/http2/server/stream.ts';

export interface ExchangeHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** One HTTP request that is not gRPC and its answer, over either version of HTTP. */
export interface HttpExchange {
  readonly method: string;
  /** With the query. */
  readonly target: string;
  /** Whether the connection is encrypted. */
  readonly secure: boolean;
  readonly address: string;
  /** Of a verified client certificate. */
  commonName(): string | undefined;
  /** Names are lower case. */
  header(name: string): string | undefined;
  /** The next piece of the body; undefined when it has ended or the client is gone. Only what is asked for is read. */
  read(): Promise<Buffer | undefined>;
  /** Headers that every answer carries; before the head is sent. */
  addHeaders(headers: Readonly<Record<string, string>>): void;
  /** A whole answer. */
  answer(head: ExchangeHead, body: Buffer): void;
  /** An answer in pieces: the head, any number of pieces, the end. */
  begin(head: ExchangeHead): void;
  write(piece: Buffer): void;
  end(): void;
  /** Written and not taken by the client. */
  readonly queuedBytes: number;
  /** Cuts the answer short; its client sees that it is not whole. */
  destroy(): void;
  /** Once: whenever the client took something, and when nothing more can be sent. */
  listen(events: { onDrain(): void; onClosed(): void }): void;
}

export interface ExchangePeer {
  readonly address: string;
  readonly secure: boolean;
  commonName(): string | undefined;
}

export const http1Exchange = (
  request: IncomingMessage,
  response: ServerResponse,
  peer: ExchangePeer,
): HttpExchange => {
  const body: AsyncIterator<Buffer> = request[Symbol.asyncIterator]();
  const isHead = request.method === 'HEAD';
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    ...peer,
    header(name) {
      const value = request.headers[name];
      return typeof value === 'object' ? value.join(', ') : value;
    },
    async read() {
      try {
        const { done, value } = await body.next();
        return done ? undefined : value;
      } catch {
        return undefined; // the client hung up
      }
    },
    addHeaders(headers) {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    },
    answer({ status, headers }, bytes) {
      request.resume();
      response.writeHead(status, { ...headers, 'content-length': String(bytes.length) });
      response.end(isHead ? undefined : bytes);
    },
    begin({ status, headers }) {
      response.writeHead(status, headers);
      response.flushHeaders();
    },
    write: (piece) => void (isHead || response.write(piece)),
    end() {
      request.resume();
      response.end();
    },
    get queuedBytes() {
      return response.writableLength;
    },
    destroy: () => void request.socket.destroy(),
    listen({ onDrain, onClosed }) {
      response.on('drain', onDrain);
      response.once('close', onClosed);
    },
  };
};

export const http2Exchange = (stream: Http2Stream, peer: ExchangePeer): HttpExchange => {
  const received: Buffer[] = [];
  const added: Record<string, string> = {};
  let ended = false;
  let wake: (() => void) | undefined;
  let events: { onDrain(): void; onClosed(): void } | undefined;
  const woken = (): void => {
    const reader = wake;
    wake = undefined;
    reader?.();
  };
  stream.owner = {
    onData(bytes) {
      received.push(Buffer.from(bytes));
      woken();
    },
    onEnd() {
      ended = true;
      woken();
    },
    onDrain: () => events?.onDrain(),
    onClosed() {
      ended = true;
      woken();
      events?.onClosed();
    },
  };
  const method = stream.header(':method') ?? 'GET';
  const head = ({ status, headers }: ExchangeHead): Buffer =>
    encodeHeaders([
      { name: ':status', value: String(status) },
      ...Object.entries({ ...added, ...headers }).map(([name, value]) => ({
        name: name.toLowerCase(),
        value,
      })),
    ]);
  /** A client that still sends is let finish; what it sends is dropped. */
  const dropRest = (): void => {
    for (const piece of received.splice(0)) stream.consume(piece.length);
    if (!ended && stream.owner !== undefined)
      stream.owner = { ...stream.owner, onData: (bytes) => stream.consume(bytes.length) };
  };
  return {
    method,
    target: stream.header(':path') ?? '/',
    ...peer,
    header: (name) => stream.header(name),
    async read() {
      while (received.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
      const piece = received.shift();
      if (piece !== undefined) stream.consume(piece.length);
      return piece;
    },
    addHeaders: (headers) => void Object.assign(added, headers),
    answer({ status, headers }, bytes) {
      const block = head({ status, headers: { ...headers, 'content-length': String(bytes.length) } });
      dropRest();
      if (method === 'HEAD' || bytes.length === 0) stream.end(block);
      else {
        stream.sendHeaders(block);
        stream.sendData(bytes);
        stream.end();
      }
    },
    begin: (whole) => stream.sendHeaders(head(whole)),
    write: (piece) => stream.sendData(piece),
    end() {
      dropRest();
      stream.end();
    },
    get queuedBytes() {
      return stream.queuedBytes;
    },
    destroy: () => stream.reset(),
    listen: (told) => void (events = told),
  };
};

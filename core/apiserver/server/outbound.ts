import type { ServerResponse } from 'node:http';
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Writable } from 'node:stream';
import type { HeaderValue, Outbound } from './response.ts';

/** Resolves when the stream can take more, or never will again. */
const drainedOf = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || !stream.writableNeedDrain) {
      resolve();
      return;
    }
    const settle = (): void => {
      stream.off('drain', settle).off('close', settle).off('error', settle);
      resolve();
    };
    stream.on('drain', settle).on('close', settle).on('error', settle);
  });

const endOf = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || stream.writableFinished) {
      resolve();
      return;
    }
    const settle = (): void => {
      stream.off('close', settle).off('finish', settle);
      resolve();
    };
    stream.on('close', settle).on('finish', settle);
    stream.end();
  });

const mutable = (value: HeaderValue): string | string[] => (typeof value === 'string' ? value : [...value]);

/** Headers that speak of the connection exist in HTTP/1.1 only (RFC 9113, section 8.2.2). */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

export const http1Outbound = (response: ServerResponse, isDraining: () => boolean): Outbound => ({
  head(code, headers) {
    for (const [name, value] of headers) response.setHeader(name, mutable(value));
    if (isDraining()) response.setHeader('connection', 'close');
    response.writeHead(code);
    response.flushHeaders();
  },
  write: (chunk) => response.write(chunk),
  drained: () => drainedOf(response),
  end: () => endOf(response),
  destroy: () => void response.destroy(),
  get gone() {
    return response.destroyed;
  },
});

export const http2Outbound = (stream: ServerHttp2Stream): Outbound => ({
  head(code, headers) {
    if (stream.destroyed || stream.closed) return;
    const outgoing: OutgoingHttpHeaders = { ':status': code };
    for (const [name, value] of headers) if (!CONNECTION_HEADERS.has(name)) outgoing[name] = mutable(value);
    stream.respond(outgoing);
    // As upstream: a client that did not authenticate keeps no connection of this costly protocol.
    if (headers.get('connection') === 'close') {
      const { session } = stream;
      stream.once('close', () => session?.close());
    }
  },
  write: (chunk) => stream.write(chunk),
  drained: () => drainedOf(stream),
  end: () => endOf(stream),
  destroy: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
  get gone() {
    return stream.destroyed || stream.closed;
  },
});

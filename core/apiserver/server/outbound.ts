import type { ServerResponse } from 'node:http';
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

const ASCII = /^[\x00-\x7f]*$/;

/** Node flushes headers as UTF-8, but sends them as they are, one byte a character, with the first bytes of a body. */
const canFlush = (headers: ReadonlyMap<string, HeaderValue>): boolean => {
  for (const value of headers.values())
    if (typeof value === 'string' ? !ASCII.test(value) : !value.every((one) => ASCII.test(one))) return false;
  return true;
};

export const http1Outbound = (response: ServerResponse, isDraining: () => boolean): Outbound => ({
  head(code, headers) {
    for (const [name, value] of headers) response.setHeader(name, mutable(value));
    if (isDraining()) response.setHeader('connection', 'close');
    response.writeHead(code);
    if (canFlush(headers)) response.flushHeaders();
  },
  write: (chunk) => response.write(chunk),
  drained: () => drainedOf(response),
  end: () => endOf(response),
  destroy: () => void response.destroy(),
  get gone() {
    return response.destroyed;
  },
});

import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import type { Endpoint } from './dial.ts';
import { TransportError, transportErrorOf, type WireRequest, type WireResponse } from './transport.ts';

/** client-go's health check of HTTP/2 connections. */
const PING_EVERY_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
/** When the server has not said how many it takes: the least that RFC 9113 recommends. */
const STREAMS_ASSUMED = 100;
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const SESSION_WINDOW_BYTES = 64 * 1024 * 1024;

/** Whether we ended a stream ourselves. */
interface GivenUp {
  readonly isUp: boolean;
  readonly signal: AbortSignal | undefined;
}

/** One connection that carries many requests. */
export class Http2Session {
  readonly #session: ClientHttp2Session;
  readonly #endpoint: Endpoint;
  readonly #clock: Clock;
  readonly #onRoom: () => void;
  #open = 0;
  #draining = false;
  /** Requests with a higher number were not looked at by the server. */
  #lastProcessedId = Infinity;
  #ping: Disposable | undefined;

  /** `onRoom` is called when a stream ends, and when the session does. */
  constructor(socket: Socket, endpoint: Endpoint, clock: Clock, onRoom: () => void) {
    this.#endpoint = endpoint;
    this.#clock = clock;
    this.#onRoom = onRoom;
    this.#session = connect(endpoint.url.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.#session.once('connect', () => this.#session.setLocalWindowSize(SESSION_WINDOW_BYTES));
    this.#session.on('error', () => this.retire());
    this.#session.on('goaway', (_code, lastStreamId) => {
      this.#lastProcessedId = lastStreamId;
      this.retire();
    });
    this.#session.once('close', () => {
      this.#ping?.dispose();
      this.retire();
    });
    this.#armPing();
  }

  /** Resolves when the server has said how many streams it takes: more would wait in here behind watches. */
  whenReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      const host = this.#endpoint.url.host;
      const fail = (error: unknown): void =>
        reject(transportErrorOf(error, `dial ${host}`, { maybeProcessed: false }));
      const timeout = this.#clock.after(PING_TIMEOUT_MS, () => {
        fail(new Error('the server sent no settings'));
        this.destroy();
      });
      this.#session.once('remoteSettings', () => resolve());
      this.#session.once('error', fail);
      this.#session.once('close', () => {
        timeout.dispose();
        fail(new Error('the connection was closed before its first request'));
      });
      this.#session.once('remoteSettings', () => timeout.dispose());
    });
  }

  get isUsable(): boolean {
    return !this.#draining && !this.#session.closed && !this.#session.destroyed;
  }

  get isGone(): boolean {
    return this.#session.destroyed;
  }

  get hasRoom(): boolean {
    const streamsMax = this.#session.remoteSettings?.maxConcurrentStreams ?? STREAMS_ASSUMED;
    return this.isUsable && this.#open < streamsMax;
  }

  /** Takes no more requests; ends when those in progress are over. */
  retire(): void {
    if (!this.#draining) {
      this.#draining = true;
      this.#onRoom();
    }
    if (this.#open === 0 && !this.#session.destroyed) this.#session.close();
  }

  destroy(): void {
    this.#draining = true;
    this.#session.destroy();
  }

  send(request: WireRequest): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      request.beforeSent?.();
      if (signal?.aborted) return reject(signal.reason as Error);
      const stream = this.#session.request(
        {
          ...request.headers,
          ':method': request.method,
          ':path': request.path,
          ':scheme': 'https',
          ':authority': this.#endpoint.url.host,
        },
        { endStream: request.body === undefined },
      );
      this.#track(stream);
      const given = { isUp: false, signal };
      const cancel = (): void => {
        given.isUp = true;
        if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
      };
      const onAbort = (): void => {
        cancel();
        reject(signal!.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      let failure: unknown;
      let isAnswered = false;
      stream.on('error', (error) => (failure ??= error));
      stream.once('close', () => {
        signal?.removeEventListener('abort', onAbort);
        if (!isAnswered) reject(this.#errorOf(stream, failure));
      });
      stream.once('response', (headers) => {
        isAnswered = true;
        resolve({
          status: Number(headers[':status']),
          headers: plainHeaders(headers),
          body: this.#body(stream, given),
          readAll: (bytesMax) => this.#readAll(stream, given, bytesMax),
          ...toDisposable(cancel),
        });
      });
      if (request.body !== undefined) stream.end(request.body);
    });
  }

  #track(stream: ClientHttp2Stream): void {
    this.#open += 1;
    stream.once('close', () => {
      this.#open -= 1;
      if (this.#draining && this.#open === 0 && !this.#session.destroyed) this.#session.close();
      this.#onRoom();
    });
  }

  async *#body(stream: ClientHttp2Stream, given: GivenUp): AsyncGenerator<Uint8Array, void, void> {
    let failure: unknown;
    try {
      yield* stream as AsyncIterable<Uint8Array>;
    } catch (error) {
      failure = error;
    }
    if (given.signal?.aborted) throw given.signal.reason;
    // Streams of a connection that is gone end as if all had been said, but for their code, which is CANCEL.
    const isCut = failure !== undefined || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
    if (isCut && !given.isUp) throw this.#errorOf(stream, failure);
  }

  /** What reading chunk by chunk would give, without what an iterator costs: most answers are a chunk or two. */
  #readAll(stream: ClientHttp2Stream, given: GivenUp, bytesMax: number): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let failure: unknown;
      const settle = (): void => {
        if (given.signal?.aborted) reject(given.signal.reason as Error);
        else if (failure !== undefined || stream.rstCode !== constants.NGHTTP2_NO_ERROR)
          reject(this.#errorOf(stream, failure));
        else resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      };
      if (stream.closed && stream.readableEnded) return settle();
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes <= bytesMax) {
          chunks.push(chunk);
          return;
        }
        resolve(undefined);
        stream.close(constants.NGHTTP2_CANCEL);
      });
      stream.once('error', (error) => (failure = error));
      // Whether the end was one is known when the stream is closed.
      stream.once('close', settle);
    });
  }

  #errorOf(stream: ClientHttp2Stream, failure: unknown): TransportError {
    const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    const unseen = refused || stream.id === undefined || stream.id > this.#lastProcessedId;
    const what = this.#endpoint.url.host;
    const cause = failure ?? new Error(refused ? 'the stream was refused' : 'http2: client connection lost');
    const error = transportErrorOf(cause, what, { maybeProcessed: !unseen });
    return new TransportError('ConnectionLost', error.message, { maybeProcessed: !unseen, cause });
  }

  /** Half of a connection can die without a word: a server behind it that is asked must answer. */
  #armPing(): void {
    this.#ping = this.#clock.after(PING_EVERY_MS, () => {
      if (this.#session.destroyed) return;
      const timeout = this.#clock.after(PING_TIMEOUT_MS, () => this.destroy());
      this.#ping = timeout;
      const sent = this.#session.ping((error) => {
        timeout.dispose();
        if (!error && !this.#session.destroyed) this.#armPing();
      });
      if (!sent) timeout.dispose();
    });
  }
}

export const plainHeaders = (
  headers: Readonly<Record<string, string | string[] | number | undefined>>,
): Record<string, string> => {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !name.startsWith(':'))
      plain[name] = Array.isArray(value) ? value.join(', ') : String(value);
  return plain;
};

import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { toDisposable } from '../../base/disposable.ts';
import type { Dialed, Endpoint } from './dial.ts';
import { plainHeaders } from './http2-session.ts';
import { TransportError, transportErrorOf, type WireRequest, type WireResponse } from './transport.ts';

/** Each watch holds one, so this is above what any component opens. */
const SOCKETS_MAX = 256;
const IDLE_SOCKETS_MAX = 25;

/** Connections to a server without HTTP/2: one request each at a time, kept for the next. */
export class Http1Connections {
  readonly #endpoint: Endpoint;
  readonly #agent: Agent;
  #first: Socket | undefined;

  /** `first` is the connection on which the server said that it speaks no HTTP/2. */
  constructor(endpoint: Endpoint, first: Socket, dial: () => Promise<Dialed>) {
    this.#endpoint = endpoint;
    this.#first = first;
    first.on('error', () => undefined);
    this.#agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, maxFreeSockets: IDLE_SOCKETS_MAX });
    const connect = (done: (error: Error | null, socket: Socket) => void): Socket | undefined => {
      const held = this.#first;
      this.#first = undefined;
      if (held && !held.destroyed) return held;
      dial().then(
        ({ socket }) => done(null, socket),
        (error: Error) => done(error, undefined as never),
      );
      return undefined;
    };
    Object.assign(this.#agent, {
      createConnection: (_: unknown, done: (error: Error | null, socket: Socket) => void) => connect(done),
    });
  }

  send(request: WireRequest): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      if (signal?.aborted) return reject(signal.reason as Error);
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, value as string | string[]]),
      );
      const bytes = request.body === undefined ? undefined : Buffer.from(request.body);
      const outgoing = httpRequest({
        agent: this.#agent,
        host: this.#endpoint.host,
        port: this.#endpoint.port,
        method: request.method,
        path: request.path,
        headers: {
          ...headers,
          host: this.#endpoint.url.host,
          ...(bytes && { 'content-length': String(bytes.byteLength) }),
        },
      });
      const onAbort = (): void => {
        outgoing.destroy();
        reject(signal!.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      outgoing.once('socket', () => {
        if (!outgoing.destroyed) request.beforeSent?.();
      });
      outgoing.once('close', () => signal?.removeEventListener('abort', onAbort));
      outgoing.on('error', (error) => {
        if (error instanceof TransportError) return reject(error);
        // A kept connection that the server has just closed: nothing of the request was answered.
        reject(transportErrorOf(error, this.#endpoint.url.host, { maybeProcessed: true }));
      });
      outgoing.once('response', (incoming) =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: plainHeaders(incoming.headers),
          body: this.#body(incoming, signal),
          ...toDisposable(() => {
            // What was read to its end leaves the connection to the next request.
            if (!incoming.complete) outgoing.destroy();
          }),
        }),
      );
      outgoing.end(bytes);
    });
  }

  destroy(): void {
    this.#first?.destroy();
    this.#agent.destroy();
  }

  async *#body(
    incoming: IncomingMessage,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* incoming as AsyncIterable<Uint8Array>;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw transportErrorOf(error, this.#endpoint.url.host, { maybeProcessed: true });
    }
    if (signal?.aborted) throw signal.reason;
  }
}

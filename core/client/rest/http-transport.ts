import type { Clock } from '../../base/clock.ts';
import type { ClientConfig } from './config.ts';
import type { Credentials, TlsMaterial } from './credentials.ts';
import { dial, endpointOf, type Dialed, type Endpoint } from './dial.ts';
import { Http1Connections } from './http1-connections.ts';
import { Http2Session } from './http2-session.ts';
import {
  TransportError,
  isTransportError,
  type Transport,
  type WireRequest,
  type WireResponse,
} from './transport.ts';

/** Watches of one component and its requests fit into two or three of 100 streams; the rest is head room. */
const SESSIONS_MAX = 16;

interface Waiter {
  readonly wake: () => void;
}

/**
 * Connections to a cluster. HTTP/2 where the server offers it, with a further connection when all streams of the
 * others are taken; else HTTP/1.1. When a server cannot be reached the next address is tried, and stays in use.
 * When the files of a certificate change, connections that were made with the old one take no more requests.
 */
export class HttpTransport implements Transport {
  readonly #config: ClientConfig;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  readonly #endpoints: readonly Endpoint[];
  #endpoint = 0;
  #sessions: Http2Session[] = [];
  #http1: Http1Connections | undefined;
  #dialing: Promise<void> | undefined;
  #material: TlsMaterial | undefined;
  readonly #waiters = new Set<Waiter>();
  #isClosed = false;

  constructor(config: ClientConfig, credentials: Credentials, clock: Clock) {
    this.#config = config;
    this.#credentials = credentials;
    this.#clock = clock;
    this.#endpoints = config.servers.map(endpointOf);
  }

  async send(request: WireRequest): Promise<WireResponse> {
    for (;;) {
      if (this.#isClosed) throw closed();
      if (request.signal?.aborted) throw request.signal.reason;
      await this.#refreshMaterial(request.signal);
      if (this.#http1) return this.#http1.send(request);
      const session = this.#sessions.find(({ hasRoom }) => hasRoom);
      if (session) return session.send(request);
      await this.#more(request.signal);
    }
  }

  dispose(): void {
    this.#isClosed = true;
    for (const session of this.#sessions.splice(0)) session.destroy();
    this.#http1?.destroy();
    this.#http1 = undefined;
    this.#wake();
  }

  /** Makes one more connection, or waits for room when there are enough. */
  async #more(signal: AbortSignal | undefined): Promise<void> {
    this.#sessions = this.#sessions.filter(({ isGone }) => !isGone);
    if (this.#sessions.filter(({ isUsable }) => isUsable).length >= SESSIONS_MAX) return this.#room(signal);
    this.#dialing ??= this.#connect().finally(() => (this.#dialing = undefined));
    await orAborted(this.#dialing, signal);
  }

  /** Tries each address once, from the one that worked last. */
  async #connect(): Promise<void> {
    let failure: unknown;
    for (let tries = 0; tries < this.#endpoints.length; tries += 1) {
      const endpoint = this.#endpoints[this.#endpoint]!;
      try {
        const dialed = await this.#dial(endpoint);
        if (this.#isClosed) {
          dialed.socket.destroy();
          throw closed();
        }
        await this.#accept(endpoint, dialed);
        return;
      } catch (error) {
        failure = error;
        if (isTransportError(error) && error.reason === 'Closed') break;
        this.#endpoint = (this.#endpoint + 1) % this.#endpoints.length;
      }
    }
    throw failure;
  }

  async #accept(endpoint: Endpoint, { socket, protocol }: Dialed): Promise<void> {
    if (protocol === 'http/1.1') {
      this.#http1 = new Http1Connections(endpoint, socket, () => this.#dial(endpoint));
      return;
    }
    socket.on('error', () => undefined);
    const session = new Http2Session(socket, endpoint, this.#clock, () => this.#wake());
    await session.whenReady();
    if (this.#isClosed) session.destroy();
    else this.#sessions.push(session);
  }

  #dial(endpoint: Endpoint): Promise<Dialed> {
    return dial(endpoint, this.#config, () => this.#credentials.tls(undefined));
  }

  async #refreshMaterial(signal: AbortSignal | undefined): Promise<void> {
    const material = await this.#credentials.tls(signal);
    if (this.#material && isSameMaterial(material, this.#material)) return;
    const isFirst = this.#material === undefined;
    this.#material = material;
    if (isFirst) return;
    for (const session of this.#sessions) session.retire();
    this.#http1?.destroy();
    this.#http1 = undefined;
  }

  #room(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal!.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const { wake } of waiters) wake();
  }
}

/** Before each request: what was not read again is the same text, and comparing it costs nothing. */
const isSameMaterial = (a: TlsMaterial, b: TlsMaterial): boolean =>
  a.authority === b.authority && a.certificate === b.certificate && a.key === b.key;

const closed = (): TransportError =>
  new TransportError('Closed', 'this client was closed', { maybeProcessed: false });

/** Others wait for the same connection: one who gives up leaves it to them. */
const orAborted = (work: Promise<void>, signal: AbortSignal | undefined): Promise<void> => {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
};

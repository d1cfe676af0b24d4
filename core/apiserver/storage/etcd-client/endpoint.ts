import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { GrpcTarget } from '../../../base/node/grpc/call.ts';
import { ClientConnection } from '../../../base/node/http2/client/connection.ts';
import type { TlsSource } from './tls-source.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const BACKOFF_MS_MIN = 50;
const BACKOFF_MS_MAX = 3_000;
const BACKOFF_JITTER = 0.2;

export interface EndpointOptions {
  /** `https://host:port`, or `http://` for an etcd without TLS. */
  readonly url: string;
  readonly tls: TlsSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How often a ping is sent, and how long its answer may take before the member is given up. */
  readonly keepaliveIntervalMs: number;
  readonly keepaliveTimeoutMs: number;
  /** Became ready, or stopped being so. */
  readonly onChanged: () => void;
}

/** One member: a connection that is kept up, with bounded back-off between attempts. */
export class Endpoint {
  readonly url: string;
  readonly #options: EndpointOptions;
  readonly #authority: string;
  readonly #scheme: string;
  #target: GrpcTarget | undefined;
  /** The one that is used or opened, and those of servers that are going away. */
  readonly #sockets = new Set<Socket>();
  #timer: Disposable | undefined;
  #keepalive: Disposable | undefined;
  #attempts = 0;
  #closed = false;
  #problem = 'not connected yet';

  constructor(options: EndpointOptions) {
    const url = new URL(options.url);
    this.url = options.url;
    this.#options = options;
    this.#authority = url.host;
    this.#scheme = url.protocol === 'https:' ? 'https' : 'http';
    this.#connect();
  }

  /** Undefined while there is no usable connection. */
  get target(): GrpcTarget | undefined {
    return this.#target?.connection.usable === true ? this.#target : undefined;
  }

  get problem(): string {
    return this.#problem;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.dispose();
    this.#keepalive?.dispose();
    this.#target?.connection.destroy('the client was closed');
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(): void {
    const { clock } = this.#options;
    let socket: Socket;
    try {
      socket = this.#open();
    } catch (error) {
      // Certificates that cannot be read right now, say in the middle of a renewal.
      this.#failed(messageOf(error));
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const isTls = this.#scheme === 'https';
    const readyEvent = isTls ? 'secureConnect' : 'connect';
    const settle = (): void => {
      this.#timer?.dispose();
      socket.off('error', onError).off('close', onClose).off(readyEvent, onReady);
    };
    const fail = (why: string): void => {
      settle();
      // What a socket that is given up still has to say interests no one.
      socket.on('error', () => undefined);
      socket.destroy();
      this.#failed(why);
    };
    const onError = (error: Error): void => fail(error.message);
    const onClose = (): void => fail('closed while connecting');
    const onReady = (): void => {
      if (isTls && (socket as TLSSocket).alpnProtocol !== 'h2')
        return fail('the server does not speak HTTP/2');
      settle();
      this.#connected(socket);
    };
    this.#timer = clock.after(CONNECT_TIMEOUT_MS, () => fail('connecting took too long'));
    socket.on('error', onError).on('close', onClose).on(readyEvent, onReady);
  }

  #open(): Socket {
    const url = new URL(this.url);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = Number(url.port || 2379);
    const socket =
      this.#scheme === 'https'
        ? connectTls({
            ...this.#options.tls(),
            host,
            port,
            ALPNProtocols: ['h2'],
            ...(isIP(host) === 0 && { servername: host }),
          })
        : connectTcp({ host, port });
    socket.setNoDelay(true);
    return socket;
  }

  #connected(socket: Socket): void {
    let current = true;
    const lost = (why: string): void => {
      if (!current) return;
      current = false;
      this.#target = undefined;
      this.#keepalive?.dispose();
      this.#failed(why);
    };
    const connection = new ClientConnection(socket, {
      onDraining: () => lost('the server is going away'),
      onClosed: lost,
    });
    this.#target = { connection, authority: this.#authority, scheme: this.#scheme };
    this.#attempts = 0;
    this.#keepAlive(connection);
    this.#options.onChanged();
  }

  #keepAlive(connection: ClientConnection): void {
    const { clock, keepaliveIntervalMs, keepaliveTimeoutMs } = this.#options;
    this.#keepalive = clock.after(keepaliveIntervalMs, () => {
      this.#keepalive = clock.after(keepaliveTimeoutMs, () =>
        connection.destroy('the server does not answer pings'),
      );
      connection.ping(() => {
        this.#keepalive?.dispose();
        if (connection.usable) this.#keepAlive(connection);
      });
    });
  }

  #failed(why: string): void {
    if (this.#closed) return;
    const { clock, random, log } = this.#options;
    this.#problem = why;
    log.write(this.#attempts === 0 ? 'warn' : 'debug', 'etcd endpoint is not connected', {
      url: this.url,
      why,
    });
    const delayMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** Math.min(this.#attempts, 16));
    this.#attempts += 1;
    this.#timer = clock.after(delayMs * (1 + BACKOFF_JITTER * (2 * random.next() - 1)), () =>
      this.#connect(),
    );
    this.#options.onChanged();
  }
}

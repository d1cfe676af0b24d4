import type { Server, Socket } from 'node:net';

/** TLS wraps a connection, and both objects know only its other end. */
const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

/**
 * Connections whose peers are not authenticated. Past the bound the oldest one is closed: a client that comes to
 * authenticate is always let in, however many connections others hold open.
 */
export class Strangers {
  readonly #max: number;
  /** In the order they came. */
  readonly #sockets = new Map<string, Socket>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    const key = keyOf(socket);
    this.#sockets.set(key, socket);
    socket.once('close', () => {
      if (this.#sockets.get(key) === socket) this.#sockets.delete(key);
    });
    if (this.#sockets.size <= this.#max) return;
    const [oldest] = this.#sockets;
    if (!oldest) return;
    this.#sockets.delete(oldest[0]);
    oldest[1].destroy();
  }

  /** Its peer is known from now on. Takes the connection, or what wraps it. */
  recognize(socket: Socket): void {
    this.#sockets.delete(keyOf(socket));
  }
}

/** Bounds the connections of a server this way; the caller recognizes peers, where there is something to know them by. */
export const boundStrangers = (server: Server, max: number): Strangers => {
  const strangers = new Strangers(max);
  server.on('connection', (socket: Socket) => strangers.add(socket));
  return strangers;
};

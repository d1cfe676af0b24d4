import dgram from 'node:dgram';
import http from 'node:http';
import net, { type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { V1ContainerPort } from '../../../api/schema/index.ts';
import { RuntimeError } from '../runtime.ts';
import { answerHttp, type Responder } from './http-answer.ts';

/** Connections that one port of a pod keeps at once. */
export const CONNECTIONS_MAX = 256;
const KEEP_ALIVE_MS = 60_000;

export interface Listeners {
  /** Ports that are open inside the process alone: the host refuses them to ordinary users. */
  readonly unbound: readonly number[];
  isListening(port: number): boolean;
  dial(port: number): Promise<Duplex>;
  /** Closes the ports and every connection. */
  close(): void;
}

interface Listener {
  readonly address: string;
  readonly port: number;
  readonly isBound: boolean;
  close(): void;
}

const bindError = (address: string, port: number, error: unknown): RuntimeError => {
  const code = (error as NodeJS.ErrnoException).code;
  const why = code === 'EADDRINUSE' ? 'address already in use' : messageOf(error);
  return new RuntimeError('RunContainerError', `listen on ${address}:${port}: ${why}`, { cause: error });
};

/**
 * The ports of all simulated containers of a process. One HTTP server that never listens itself answers for all
 * of them: a port then costs a socket and no timers.
 */
export class ListenerPool {
  readonly #clock: Clock;
  readonly #responders = new WeakMap<object, Responder>();
  readonly #server: http.Server;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      const responder = this.#responders.get(request.socket);
      if (responder) answerHttp(responder, this.#clock.nowMs(), request, response);
      else response.destroy();
    });
  }

  /** Opens every declared port; all or none. RuntimeError `RunContainerError` when one is taken. */
  async open(
    ports: readonly V1ContainerPort[],
    options: { readonly address: string; readonly hostIP: string; readonly responder: Responder },
  ): Promise<Listeners> {
    const open: Listener[] = [];
    try {
      for (const port of ports) {
        const isUdp = port.protocol === 'UDP';
        if (port.protocol === 'SCTP') continue;
        const listen = isUdp ? this.#listenUdp : this.#listenTcp;
        open.push(await listen.call(this, options.address, port.containerPort, options.responder));
        if (port.hostPort && options.address !== options.hostIP)
          open.push(await listen.call(this, port.hostIP || options.hostIP, port.hostPort, options.responder));
      }
    } catch (error) {
      for (const listener of open) listener.close();
      throw error;
    }
    const own = open.filter(({ address }) => address === options.address);
    return {
      unbound: own.filter(({ isBound }) => !isBound).map(({ port }) => port),
      isListening: (port) => own.some((listener) => listener.port === port && listener.isBound),
      dial: (port) =>
        this.#dial(
          own.find((listener) => listener.port === port),
          port,
          options.responder,
        ),
      close: () => open.forEach((listener) => listener.close()),
    };
  }

  #serve(socket: Duplex, responder: Responder): void {
    this.#responders.set(socket, responder);
    this.#server.emit('connection', socket);
  }

  #listenTcp(address: string, port: number, responder: Responder): Promise<Listener> {
    const sockets = new Set<Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      this.#serve(socket, responder);
    });
    server.maxConnections = CONNECTIONS_MAX;
    return new Promise((resolve, reject) => {
      server.once('error', (error) => {
        // Ports below 1024 belong to root on most hosts, while in a container of its own everybody has them.
        if ((error as NodeJS.ErrnoException).code === 'EACCES')
          resolve({ address, port, isBound: false, close: () => undefined });
        else reject(bindError(address, port, error));
      });
      server.listen({ host: address, port, exclusive: true }, () => {
        server.removeAllListeners('error');
        server.on('error', () => undefined);
        resolve({
          address,
          port,
          isBound: true,
          close: () => {
            server.close();
            for (const socket of sockets) socket.destroy();
          },
        });
      });
    });
  }

  #listenUdp(address: string, port: number): Promise<Listener> {
    const socket = dgram.createSocket('udp4');
    return new Promise((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close();
        if ((error as NodeJS.ErrnoException).code === 'EACCES')
          resolve({ address, port, isBound: false, close: () => undefined });
        else reject(bindError(address, port, error));
      });
      socket.bind({ address, port, exclusive: true }, () => {
        socket.removeAllListeners('error');
        socket.on('error', () => undefined);
        socket.on('message', (message, from) => socket.send(message, from.port, from.address));
        resolve({ address, port, isBound: true, close: () => socket.close() });
      });
    });
  }

  #dial(listener: Listener | undefined, port: number, responder: Responder): Promise<Duplex> {
    if (!listener)
      return Promise.reject(new Error(`dial tcp4 127.0.0.1:${port}: connect: connection refused`));
    if (!listener.isBound) {
      const [near, far] = duplexPair();
      this.#serve(far, responder);
      return Promise.resolve(near);
    }
    return new Promise((resolve, reject) => {
      const socket = net.connect({ host: listener.address, port }, () => resolve(socket));
      socket.once('error', reject);
    });
  }
}

/** Two ends of one connection inside the process. */
const duplexPair = (): [Duplex, Duplex] => {
  const make = (other: () => Duplex): Duplex =>
    new Duplex({
      read() {
        return;
      },
      write(chunk: Buffer, _encoding, done) {
        other().push(chunk);
        done();
      },
      final(done) {
        other().push(null);
        done();
      },
    });
  const near: Duplex = make(() => far);
  const far: Duplex = make(() => near);
  return [near, far];
};

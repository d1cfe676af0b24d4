import dgram from 'node:dgram';
import http from 'node:http';
import net, { type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hostAddress, nodeBindRules, whyNotBind, type BindRules } from '../../../base/bind-rules.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { V1ContainerPort } from '../../../api/schema/index.ts';
import { RuntimeError } from '../runtime.ts';
import type { Connecting, Judgement } from './content/messages.ts';
import { answerHttp, type Responder } from './http-answer.ts';

/** Connections that one port of a pod keeps at a time. */
export const CONNECTIONS_MAX = 256;
const KEEP_ALIVE_MS = 60_000;
/** A connection on which nothing moves for so long is closed. */
const IDLE_MS_MAX = 120_000;

export interface Listeners {
  /** Ports that are open inside the process alone: the host refuses them to ordinary users. */
  readonly unbound: readonly number[];
  isListening(port: number): boolean;
  /** Closes the ports and every connection. */
  close(): void;
}

/** Decides about connections that come in. */
export interface Gate {
  readonly isPoliced: boolean;
  judge(connection: Connecting): Promise<Judgement>;
}

/** Where a port listens, and what it is a port of. */
interface Opening {
  readonly address: string;
  readonly port: number;
  readonly responder: Responder;
  /** Of the pod, behind a `hostPort`. */
  readonly podPort: number;
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

/** Refuses what would take an address of another host, of the machine, or of a component, before anything is opened. */
const assertHostPlaces = (
  ports: readonly V1ContainerPort[],
  {
    address,
    hostIP,
    hostRules = nodeBindRules(hostIP, false),
  }: { address: string; hostIP: string; hostRules?: BindRules | undefined },
): void => {
  for (const port of ports) {
    const isInHostNetwork = address === hostIP;
    if (!isInHostNetwork && !port.hostPort) continue;
    const place = isInHostNetwork
      ? { address, port: port.containerPort }
      : { address: hostAddress(port.hostIP, hostIP), port: port.hostPort ?? 0 };
    const why = whyNotBind(place, hostRules);
    if (why !== undefined)
      throw new RuntimeError(
        'RunContainerError',
        `${isInHostNetwork ? 'port' : 'hostPort'} ${place.port} on ${place.address} cannot be opened: ${why}`,
      );
  }
};

/**
 * The ports of all simulated containers of a process. One HTTP server that never listens itself answers for all
 * of them: a port then costs a socket and no timers.
 */
export class ListenerPool {
  readonly #clock: Clock;
  readonly #gate: Gate | undefined;
  readonly #responders = new WeakMap<object, Responder>();
  readonly #server: http.Server;

  constructor(clock: Clock, gate?: Gate) {
    this.#clock = clock;
    this.#gate = gate;
    this.#server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
      const responder = this.#responders.get(request.socket);
      if (!responder) return response.destroy();
      try {
        answerHttp(responder, this.#clock.nowMs(), request, response);
      } catch (error) {
        // One request costs itself and nothing else.
        responder.onRequest(`a request could not be answered: ${messageOf(error)}`);
        response.destroy();
      }
    });
    this.#server.timeout = IDLE_MS_MAX;
  }

  /** Opens every declared port; all or none. RuntimeError `RunContainerError` when one is taken or not allowed. */
  async open(
    ports: readonly V1ContainerPort[],
    options: {
      readonly address: string;
      readonly hostIP: string;
      /** Of the node's address; default: those of a worker. */
      readonly hostRules?: BindRules | undefined;
      readonly responder: Responder;
    },
  ): Promise<Listeners> {
    const open: Listener[] = [];
    try {
      assertHostPlaces(ports, options);
      for (const port of ports) {
        const isUdp = port.protocol === 'UDP';
        if (port.protocol === 'SCTP') continue;
        const { responder } = options;
        const podPort = port.containerPort;
        const listen = (at: { address: string; port: number }): Promise<Listener> =>
          isUdp
            ? this.#listenUdp({ ...at, responder, podPort })
            : this.#listenTcp({ ...at, responder, podPort });
        open.push(await listen({ address: options.address, port: podPort }));
        if (port.hostPort && options.address !== options.hostIP)
          open.push(await listen({ address: hostAddress(port.hostIP, options.hostIP), port: port.hostPort }));
      }
    } catch (error) {
      for (const listener of open) listener.close();
      throw error;
    }
    const own = open.filter(({ address }) => address === options.address);
    return {
      unbound: own.filter(({ isBound }) => !isBound).map(({ port }) => port),
      isListening: (port) => own.some((listener) => listener.port === port && listener.isBound),
      close: () => open.forEach((listener) => listener.close()),
    };
  }

  /** Answers on a connection that was made elsewhere. */
  serve(socket: Duplex, responder: Responder): void {
    socket.on('error', () => socket.destroy());
    this.#responders.set(socket, responder);
    this.#server.emit('connection', socket);
    // Makes the server read in JavaScript: a thread that ends while the platform reads HTTP for it may take the process along.
    socket.on('data', () => undefined);
  }

  /** A connection that a NetworkPolicy denies is reset: it was accepted by the system before anyone could ask. */
  async #admit(socket: Socket, { responder, podPort }: Opening): Promise<void> {
    const { remoteAddress: from = '' } = socket;
    const connection = { kind: 'accept', from, to: responder.ip, protocol: 'TCP', port: podPort } as const;
    const judgement = await this.#gate?.judge(connection);
    if (socket.destroyed) return;
    if (judgement?.isAllowed === false) return void socket.resetAndDestroy();
    this.serve(socket, responder);
  }

  #listenTcp(opening: Opening): Promise<Listener> {
    const { address, port, responder } = opening;
    const sockets = new Set<Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      if (this.#gate?.isPoliced !== true) return this.serve(socket, responder);
      socket.on('error', () => socket.destroy());
      void this.#admit(socket, opening);
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

  async #mayEcho(from: string, { responder, podPort }: Opening): Promise<boolean> {
    if (this.#gate?.isPoliced !== true) return true;
    const to = responder.ip;
    return (await this.#gate.judge({ kind: 'accept', from, to, protocol: 'UDP', port: podPort })).isAllowed;
  }

  #listenUdp(opening: Opening): Promise<Listener> {
    const { address, port } = opening;
    let isOpen = true;
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
        socket.on('message', (message, from) => {
          // A datagram may claim to come from port 0, which nothing can be sent to.
          if (from.port === 0) return;
          void this.#mayEcho(from.address, opening).then((isAllowed) => {
            if (isAllowed && isOpen) socket.send(message, from.port, from.address, () => undefined);
          });
        });
        const close = (): void => {
          isOpen = false;
          socket.close();
        };
        resolve({ address, port, isBound: true, close });
      });
    });
  }
}

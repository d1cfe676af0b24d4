import { createSocket } from 'node:dgram';
import { createServer, isIPv6, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { boundStrangers } from '../../base/node/strangers.ts';
import type { DnsServerAddress } from '../exchange/exchange.ts';
import { frame, FrameReader } from '../exchange/frames.ts';
import type { Responder, Transport } from './responder.ts';

/** Past it the oldest connection is closed. */
const CONNECTIONS_MAX = 512;
/** Questions of one connection that wait for their answers; more are read when some are answered. */
const PIPELINED_MAX = 32;
/** RFC 7766, section 6.2.3: a server may close what is idle. */
const IDLE_MS = 10_000;

export interface OpenListener {
  close(): void;
}

const cannotListen = (proto: string, { host, port }: DnsServerAddress, cause: unknown): ReasonError =>
  new ReasonError('CannotListen', `cannot listen on ${host}:${port}/${proto}: ${messageOf(cause)}`, {
    cause,
  });

export const listenUdp = (at: DnsServerAddress, responder: Responder): Promise<OpenListener> =>
  new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(at.host) ? 'udp6' : 'udp4');
    const transport: Transport = { proto: 'udp', family: isIPv6(at.host) ? '2' : '1' };
    let isOpen = true;
    const onError = (error: Error): void => {
      socket.close();
      reject(cannotListen('UDP', at, error));
    };
    socket.once('error', onError);
    socket.bind({ address: at.host, port: at.port, exclusive: true }, () => {
      socket.removeListener('error', onError);
      socket.on('error', () => undefined);
      socket.on('message', (bytes, from) => {
        // A datagram may claim to come from port 0, which nothing can be sent to.
        if (from.port === 0) return;
        void responder.answer(bytes, transport).then((answer) => {
          if (answer && isOpen) socket.send(answer, from.port, from.address, () => undefined);
        });
      });
      resolve({
        close: () => {
          isOpen = false;
          socket.close();
        },
      });
    });
  });

const serveConnection = (socket: Socket, responder: Responder, clock: Clock): void => {
  const transport: Transport = { proto: 'tcp', family: isIPv6(socket.remoteAddress ?? '') ? '2' : '1' };
  const reader = new FrameReader();
  let waiting = 0;
  let lastMs = clock.monotonicMs();
  const arm = (): void => {
    timer = clock.after(IDLE_MS, () => {
      const idleMs = clock.monotonicMs() - lastMs;
      if (waiting === 0 && idleMs >= IDLE_MS) socket.destroy();
      else arm();
    });
  };
  let timer: { dispose(): void } | undefined;
  arm();
  const onAnswer = (answer: Uint8Array | undefined): void => {
    waiting -= 1;
    if (socket.destroyed) return;
    // What is no question at all ends the connection: nothing that follows can be trusted to be one.
    if (!answer) return void socket.destroy();
    if (!socket.write(frame(answer))) socket.pause();
    else if (waiting < PIPELINED_MAX) socket.resume();
  };
  socket.on('error', () => undefined);
  socket.on('drain', () => void (waiting < PIPELINED_MAX && socket.resume()));
  socket.on('data', (chunk: Buffer) => {
    lastMs = clock.monotonicMs();
    for (const bytes of reader.read(chunk)) {
      waiting += 1;
      void responder.answer(bytes, transport).then(onAnswer);
    }
    if (waiting >= PIPELINED_MAX) socket.pause();
  });
  socket.once('close', () => timer?.dispose());
};

export const listenTcp = (at: DnsServerAddress, responder: Responder, clock: Clock): Promise<OpenListener> =>
  new Promise((resolve, reject) => {
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      serveConnection(socket, responder, clock);
    });
    boundStrangers(server, CONNECTIONS_MAX);
    const onError = (error: Error): void => reject(cannotListen('TCP', at, error));
    server.once('error', onError);
    server.listen({ host: at.host, port: at.port, exclusive: true }, () => {
      server.removeListener('error', onError);
      server.on('error', () => undefined);
      resolve({
        close: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpForwarder {
  readonly port: number;
  /** Breaks every connection and takes no new one until `heal`. */
  cut(): void;
  /** As a network that drops everything: no one is told, and nothing arrives until `heal`. */
  silence(): void;
  heal(): void;
  close(): void;
}

/** A wire between a client and a server that can be cut: another port of `nearHost`, which a certificate may name. */
export const forwardTcp = async (
  host: string,
  port: number,
  nearHost = '127.0.0.1',
): Promise<TcpForwarder> => {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) {
      near.destroy();
      return;
    }
    if (isSilent) {
      near.pause();
      return;
    }
    const far = connect({ host, port });
    keep(far);
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }).listen(0, nearHost);
  await once(server, 'listening');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const heal = (): void => {
    isCut = false;
    if (!isSilent) return;
    isSilent = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    heal,
    close() {
      cut();
      server.close();
    },
  };
};

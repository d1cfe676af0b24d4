import { connect, createServer, type Server, type Socket } from 'node:net';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/**
 * The first half of addresses for a test file. It differs between processes, so that two runs of one test on a machine
 * do not meet; `slot` tells the files of one process apart.
 */
export const testNetwork = (slot: number): string => `127.${128 + ((process.pid * 4 + slot) % 120)}`;

export interface TestListener {
  readonly address: string;
  readonly port: number;
  /** Connections that are open, in the order in which they came. */
  readonly sockets: Set<Socket>;
  close(): Promise<void>;
}

/** A TCP server that hands each connection to `serve`. */
export const tcpServer = async (
  address: string,
  port: number,
  serve: (socket: Socket) => void,
): Promise<TestListener> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(port, address);
  await once(server, 'listening');
  return {
    address,
    port,
    sockets,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

/** Says its name and echoes whatever comes. */
export const namedEcho = (address: string, port: number, name: string): Promise<TestListener> =>
  tcpServer(address, port, (socket) => {
    socket.write(`${name}\n`);
    socket.pipe(socket);
  });

export interface TestClient {
  readonly socket: Socket;
  /** What has come so far. */
  readonly text: string;
  /** Resolves when what has come ends with it. */
  until(suffix: string): Promise<void>;
  /** `end` when the other side ended in order, else the code of the error. */
  readonly over: Promise<string>;
}

export const tcpClient = (address: string, port: number): TestClient => {
  const socket = connect({ host: address, port, allowHalfOpen: true });
  let text = '';
  const waiting = new Set<() => void>();
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    for (const look of waiting) look();
  });
  const over = new Promise<string>((resolve) => {
    socket.once('end', () => resolve('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('close', () => resolve('close'));
  });
  return {
    socket,
    get text() {
      return text;
    },
    until: (suffix) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!text.endsWith(suffix)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    over,
  };
};

/** Connects, reads the first line and goes away: who answered? */
export const whoAnswers = async (address: string, port: number): Promise<string> => {
  const client = tcpClient(address, port);
  const outcome = await Promise.race([client.until('\n').then(() => client.text.trim()), client.over]);
  client.socket.destroy();
  return outcome;
};

/** A UDP server that answers `name:message`. */
export const udpNamed = async (address: string, port: number, name: string): Promise<TestListener> => {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) =>
    socket.send(`${name}:${message.toString()}`, from.port, from.address),
  );
  socket.bind(port, address);
  await once(socket, 'listening');
  return {
    address,
    port,
    sockets: new Set(),
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
};

export interface UdpClient {
  ask(message: string): Promise<string>;
  send(message: string): void;
  close(): void;
}

export const udpClient = (address: string, port: number): UdpClient => {
  const socket = createSocket('udp4');
  const answers: string[] = [];
  const waiting: ((answer: string) => void)[] = [];
  socket.on('message', (message) => {
    const next = waiting.shift();
    if (next) next(message.toString());
    else answers.push(message.toString());
  });
  const send = (message: string): void => socket.send(message, port, address);
  return {
    send,
    ask(message) {
      send(message);
      const held = answers.shift();
      return held === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(held);
    },
    close: () => socket.close(),
  };
};

/** Looks again at each turn of the event loop, for what happens in other sockets of this process. */
export const eventually = async (isSo: () => boolean, turnsMax = 200_000): Promise<void> => {
  for (let turns = 0; turns < turnsMax; turns += 1) {
    if (isSo()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('what the test waits for never came about');
};

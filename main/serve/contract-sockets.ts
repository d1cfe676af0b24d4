import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { jsonText, parseJsonText } from '../../core/api/meta/json-text.ts';
import type { Clock } from '../../core/base/clock.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import { serveConnection, type Handlers, type HostConnection } from '../../core/contract/index.ts';

/** No message of the contract that a console sends comes near this. */
export const MESSAGE_BYTES_MAX = 1024 * 1024;
/** Beyond this a console does not read what it asked for: it is cut off and may come back. */
export const BACKLOG_BYTES_MAX = 8 * 1024 * 1024;
export const SOCKETS_MAX = 32;
export const PING_INTERVAL_MS = 15_000;
export const CLOSE_GRACE_MS = 1000;

/** Close codes of RFC 6455, section 7.4.1. */
const CLOSE_GOING_AWAY = 1001;
const CLOSE_UNSUPPORTED = 1003;
const CLOSE_INVALID = 1007;
const CLOSE_TRY_AGAIN = 1013;

export interface ContractSockets {
  /** `onAlive` is called whenever the console shows that it is still there. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, onAlive: () => void): void;
  readonly socketCount: number;
  readonly openStreamCount: number;
  /** Says goodbye to every console; those that do not answer soon are cut off. */
  close(): Promise<void>;
}

export interface ContractSocketsOptions {
  readonly handlers: Handlers;
  readonly clock: Clock;
  readonly log: Log;
}

const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as ArrayBuffer)).toString('utf8');

/** One dispatcher a socket, JSON text frames, and nothing that grows without bound in either direction. */
export const createContractSockets = (options: ContractSocketsOptions): ContractSockets => {
  const { handlers, clock, log } = options;
  const connections = new Map<WebSocket, HostConnection>();
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    // Compression keeps a context of its own for every socket and buys nothing on loopback.
    perMessageDeflate: false,
  });

  const keepAlive = (socket: WebSocket, onAlive: () => void): Disposable => {
    let answered = true;
    let timer: Disposable | undefined;
    const beat = (): void => {
      if (!answered) {
        log.write('info', 'a console stopped responding and was disconnected');
        socket.terminate();
        return;
      }
      answered = false;
      socket.ping();
      timer = clock.after(PING_INTERVAL_MS, beat);
    };
    socket.on('pong', () => {
      answered = true;
      onAlive();
    });
    timer = clock.after(PING_INTERVAL_MS, beat);
    return { dispose: () => timer?.dispose() };
  };

  const serve = (socket: WebSocket, onAlive: () => void): void => {
    const store = new DisposableStore();
    const connection = serveConnection(handlers, (message) => {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(jsonText(message));
      if (socket.bufferedAmount <= BACKLOG_BYTES_MAX) return;
      log.write('warn', 'a console is not reading and was disconnected', {
        bufferedBytes: socket.bufferedAmount,
      });
      connection.close();
      // Not a polite close: that would queue behind the backlog it is about.
      socket.terminate();
    });
    connections.set(socket, connection);
    store.defer(() => {
      connections.delete(socket);
      connection.close();
    });
    store.add(keepAlive(socket, onAlive));

    socket.on('message', (data, isBinary) => {
      if (isBinary) return socket.close(CLOSE_UNSUPPORTED, 'text frames only');
      let message: unknown;
      try {
        message = parseJsonText(textOf(data));
      } catch {
        return socket.close(CLOSE_INVALID, 'not JSON');
      }
      connection.receive(message);
    });
    // ws closes the socket itself with the code that fits; the event must be heard, or it is thrown.
    socket.on('error', (error) => log.write('info', 'a console violated the protocol', { error }));
    socket.on('close', () => store.dispose());
  };

  return {
    upgrade(request, socket, head, onAlive) {
      server.handleUpgrade(request, socket, head, (opened) => {
        if (connections.size >= SOCKETS_MAX)
          opened.close(CLOSE_TRY_AGAIN, `more than ${SOCKETS_MAX} concurrent consoles`);
        else serve(opened, onAlive);
      });
    },
    get socketCount() {
      return connections.size;
    },
    get openStreamCount() {
      return [...connections.values()].reduce((count, { openStreamCount }) => count + openStreamCount, 0);
    },
    async close() {
      server.close();
      const open = [...connections.keys()];
      const gone = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of open) {
        connections.get(socket)?.close();
        socket.close(CLOSE_GOING_AWAY, 'the console is shutting down');
      }
      const grace = clock.after(CLOSE_GRACE_MS, () => {
        for (const socket of open) socket.terminate();
      });
      await Promise.all(gone);
      grace.dispose();
    },
  };
};

import type { IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { RequestContext } from './context.ts';

/** What a client has to say here is not read, so it may not be long. */
const RECEIVED_BYTES_MAX = 4096;
/** Bytes that wait for the client before the sender does. */
const BUFFERED_BYTES_HIGH = 256 * 1024;
const NORMAL_CLOSURE = 1000;

const serverWith = (handleProtocols?: (offered: Set<string>) => string | false): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: RECEIVED_BYTES_MAX,
    ...(handleProtocols && { handleProtocols }),
  });

export const isWebSocketRequest = ({ request: { headers } }: RequestContext): boolean =>
  (headers.get('upgrade') ?? '').toLowerCase() === 'websocket' &&
  headers.all('connection').some((value) => /(^|,)\s*upgrade\s*(,|$)/i.test(value));

export const offeredProtocols = ({ request: { headers } }: RequestContext): readonly string[] =>
  headers
    .all('sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** The sending side of a WebSocket. */
export interface FrameSender {
  /** Resolves when there is room for more. */
  send(data: Uint8Array | string, form: 'text' | 'binary'): Promise<void>;
  end(): Promise<void>;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
}

const framesOf = (socket: WebSocket): FrameSender => {
  socket.on('error', () => socket.terminate());
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    closed,
    async send(data, form) {
      const sent = new Promise<void>((resolve) =>
        // A client that is gone is noticed by the end of the connection.
        socket.send(data, { binary: form === 'binary' }, () => resolve()),
      );
      if (socket.bufferedAmount > BUFFERED_BYTES_HIGH) await sent;
    },
    end: () => {
      if (socket.readyState !== socket.CLOSED) socket.close(NORMAL_CLOSURE);
      return closed;
    },
  };
};

const GONE: FrameSender = {
  send: () => Promise.resolve(),
  end: () => Promise.resolve(),
  closed: Promise.resolve(),
};

/**
 * Takes the connection over as a WebSocket; undefined where the client asked for no upgrade. As upstream, the one
 * subprotocol that a client names is agreed to, unless `choose` decides.
 */
export const openWebSocket = (
  { request }: RequestContext,
  choose?: (offered: Set<string>) => string | false,
): Promise<FrameSender> | undefined => {
  const upgraded = request.upgrade();
  if (!upgraded) return undefined;
  const headers = Object.fromEntries(
    [...request.headers.entries()].map(([name, values]) => [name, values.join(',')]),
  );
  // All that the handshake looks at; the message itself has lost its connection to us.
  const message = { method: request.method, url: request.url, headers } as unknown as IncomingMessage;
  return new Promise((resolve) => {
    serverWith(choose).handleUpgrade(message, upgraded.socket, Buffer.from(upgraded.head), (socket) =>
      resolve(framesOf(socket)),
    );
    // A handshake that fails is answered by the server, which then closes the connection.
    upgraded.socket.once('close', () => resolve(GONE));
  });
};

import type { IncomingMessage } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { RequestContext } from '../server/index.ts';
import { JSON_MEDIA_TYPE } from './media-types.ts';

/** Where the lines of a watch go. */
export interface WatchSink {
  /** Resolves when there is room for more; rejects with `ClientGone` when there is nobody left to read. */
  send(lines: readonly Uint8Array[]): Promise<void>;
  end(): Promise<void>;
}

/** A body that never ends by itself, one line an event. */
const bodySink = ({ request, response, warnings }: RequestContext): WatchSink => {
  warnings.writeTo(response);
  response.setHeader('content-type', JSON_MEDIA_TYPE);
  response.begin(200);
  return {
    send: (lines) => response.write(lines.length === 1 ? lines[0]! : Buffer.concat(lines)),
    async end() {
      if (request.signal.aborted) response.abort();
      else await response.end();
    },
  };
};

/** What a client of a watch has to say is not read, so it may not be long. */
const RECEIVED_BYTES_MAX = 4096;
/** Bytes that wait for the client before the watch does. */
const BUFFERED_BYTES_HIGH = 256 * 1024;
const NORMAL_CLOSURE = 1000;

/** As upstream, the one subprotocol that a client names is agreed to. */
const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: RECEIVED_BYTES_MAX,
});

const isWebSocketRequest = ({ request: { headers } }: RequestContext): boolean =>
  (headers.get('upgrade') ?? '').toLowerCase() === 'websocket' &&
  headers.all('connection').some((value) => /(^|,)\s*upgrade\s*(,|$)/i.test(value));

/** One text frame an event. */
const socketSink = (context: RequestContext): Promise<WatchSink> | undefined => {
  const { request } = context;
  const upgraded = request.upgrade();
  if (!upgraded) return undefined;
  const headers = Object.fromEntries(
    [...request.headers.entries()].map(([name, values]) => [name, values.join(',')]),
  );
  // All that the handshake looks at; the message itself has lost its connection to us.
  const message = { method: request.method, url: request.url, headers } as unknown as IncomingMessage;
  return new Promise((resolve) => {
    server.handleUpgrade(message, upgraded.socket, Buffer.from(upgraded.head), (socket) =>
      resolve(framesOf(socket)),
    );
    // A handshake that fails is answered by the server, which then closes the connection.
    upgraded.socket.once('close', () =>
      resolve({ send: () => Promise.resolve(), end: () => Promise.resolve() }),
    );
  });
};

const framesOf = (socket: WebSocket): WatchSink => {
  socket.on('error', () => socket.terminate());
  return {
    async send(lines) {
      for (const line of lines) {
        const sent = new Promise<void>((resolve) =>
          // Whoever is gone is told of by the end of the connection.
          socket.send(line, { binary: false }, () => resolve()),
        );
        if (socket.bufferedAmount > BUFFERED_BYTES_HIGH) await sent;
      }
    },
    end: () =>
      new Promise((resolve) => {
        if (socket.readyState === socket.CLOSED) return resolve();
        socket.once('close', () => resolve());
        socket.close(NORMAL_CLOSURE);
      }),
  };
};

/** Begins the answer to a watch: over the connection itself where the client asked for a WebSocket. */
export const openSink = async (context: RequestContext): Promise<WatchSink> =>
  (isWebSocketRequest(context) ? await socketSink(context) : undefined) ?? bodySink(context);

import { jsonText, parseJsonText } from '../../core/api/meta/json-text.ts';
import type { Transport } from './transport.ts';

const CONTRACT_PATH = '/contract';
/** A host that takes the connection and never answers must not leave the console waiting. */
export const HANDSHAKE_MAX_MS = 5_000;

export const contractUrl = (page: Pick<Location, 'protocol' | 'host'>): string =>
  `${page.protocol === 'https:' ? 'wss:' : 'ws:'}//${page.host}${CONTRACT_PATH}`;

const parseFrame = (data: unknown): unknown => {
  if (typeof data !== 'string') return undefined;
  try {
    return parseJsonText(data);
  } catch {
    return undefined; // not ours: the client drops what is no message of the contract
  }
};

/** JSON text frames to the origin the page came from. */
export const webSocketTransport = (url: string): Transport => ({
  shell: 'browser',
  connect(events) {
    const socket = new WebSocket(url);
    let closed = false;
    const end = (why: string): void => {
      clearTimeout(handshake);
      if (closed) return;
      closed = true;
      events.onClosed(why);
    };
    const handshake = setTimeout(() => {
      end('the host did not answer in time');
      socket.close();
    }, HANDSHAKE_MAX_MS);
    socket.addEventListener('open', () => {
      clearTimeout(handshake);
      if (!closed) events.onOpen();
    });
    socket.addEventListener('message', (event: MessageEvent<unknown>) => {
      if (!closed) events.onMessage(parseFrame(event.data));
    });
    // A browser hides why a handshake failed; the close event carries all there is to know.
    socket.addEventListener('close', (event) => end(event.reason || `WebSocket close code ${event.code}`));
    return {
      send(message) {
        if (socket.readyState === WebSocket.OPEN) socket.send(jsonText(message));
      },
      close() {
        closed = true;
        clearTimeout(handshake);
        socket.close();
      },
    };
  },
});

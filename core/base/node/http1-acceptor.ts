import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Hands connections to a server that never listens itself. Node watches their times (`headersTimeout`,
 * `requestTimeout`) from the `listening` event on, which such a server would not see: half a request would hold a
 * connection for ever.
 */
export const http1Acceptor = (server: Server): ((socket: Duplex) => void) => {
  let isTracking = false;
  return (socket) => {
    if (!isTracking) server.emit('listening');
    isTracking = true;
    server.emit('connection', socket);
  };
};

import type { Duplex } from 'node:stream';
import { ClientConnection } from '../http2/client/connection.ts';
import type { GrpcTarget } from './call.ts';

/** A connection for a few calls, over a socket that may still be connecting. Its owner opens another when it is lost. */
export interface GrpcSession extends GrpcTarget {
  close(why: string): void;
}

export const openGrpcSession = (socket: Duplex, authority: string, scheme: 'http' | 'https'): GrpcSession => {
  const connection = new ClientConnection(socket, {
    onDraining: () => undefined,
    onClosed: () => undefined,
  });
  return { connection, authority, scheme, close: (why) => connection.destroy(why) };
};

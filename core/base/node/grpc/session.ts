import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
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

/** Connects to `http(s)://host:port`. What fails on the way ends the calls. */
export const dialGrpc = (url: string, tls: ConnectionOptions = {}): GrpcSession => {
  const { protocol, hostname, port, host } = new URL(url);
  const isSecure = protocol === 'https:';
  const name = hostname.replace(/^\[|\]$/g, '');
  const at = { host: name, port: Number(port || (isSecure ? 443 : 80)) };
  const socket = isSecure
    ? connectTls({ ...(isIP(name) === 0 && { servername: name }), ...tls, ...at, ALPNProtocols: ['h2'] })
    : connectTcp(at);
  return openGrpcSession(socket, host, isSecure ? 'https' : 'http');
};

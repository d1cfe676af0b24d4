import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { messageOf } from '../errors.ts';

/** Why a handshake failed: Node says only "socket hang up" where it did not accept the client's certificate. */
export const handshakeFailure = (error: unknown, socket: Socket): string => {
  const reason: unknown = socket instanceof TLSSocket ? socket.authorizationError : undefined;
  if (reason === undefined || reason === null) return messageOf(error);
  return `tls: failed to verify certificate: ${reason instanceof Error ? reason.message : String(reason as string)}`;
};

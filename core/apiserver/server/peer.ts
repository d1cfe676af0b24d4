import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { Peer } from './request.ts';

const peers = new WeakMap<TLSSocket, Peer>();
const recognitions = new WeakMap<TLSSocket, () => void>();

/** Has `run` called once, when the other end of the connection is known. */
export const onRecognized = (socket: TLSSocket, run: () => void): void => {
  recognitions.set(socket, run);
};

/** The same object for every request of a connection. */
export const peerOf = (socket: TLSSocket): Peer => {
  const known = peers.get(socket);
  if (known) return known;
  let certificate: X509Certificate | undefined;
  let decoded = false;
  let isRecognized = false;
  const peer: Peer = {
    address: socket.remoteAddress ?? '',
    port: socket.remotePort ?? 0,
    verified: socket.authorized,
    certificate() {
      if (!decoded) certificate = socket.getPeerX509Certificate();
      decoded = true;
      return certificate;
    },
    recognized() {
      if (isRecognized) return;
      isRecognized = true;
      recognitions.get(socket)?.();
    },
  };
  peers.set(socket, peer);
  return peer;
};

import { constants } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { boundStrangers } from '../../base/node/strangers.ts';
import type { TlsSettings } from '../../base/node/tls-settings.ts';
import { http1Connections, type ConnectionsOptions } from './http1-connections.ts';
import { http2Connections } from './http2-connections.ts';
import { onRecognized } from './peer.ts';

/** What the listener shows and trusts; replaced as one when files change. */
export interface ServingCertificates {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** Authorities of client certificates: named in the handshake so that clients know which one to send. */
  readonly clientAuthoritiesPem: readonly string[];
}

export interface ListenerOptions extends ConnectionsOptions {
  readonly certificates: ServingCertificates;
  readonly tls: TlsSettings;
  readonly clock: Clock;
  readonly onHandshakeError: (error: Error) => void;
}

export interface Listener {
  listen(port: number, host: string): Promise<AddressInfo>;
  /** For connections made from now on. */
  setCertificates(certificates: ServingCertificates): void;
  /** Refuses new connections, sends GOAWAY, and closes connections as they fall idle. */
  stopAccepting(): void;
  /** Resolves when the last connection is closed. */
  closed(): Promise<void>;
  /** Cuts what is left. */
  destroy(): void;
}

const secureContext = (certificates: ServingCertificates, tls: TlsSettings): SecureContextOptions => ({
  ...tls,
  cert: certificates.certificatePem,
  key: certificates.privateKeyPem,
  ca: [...certificates.clientAuthoritiesPem],
  // A resumed session would bring back an identity that was verified against an older bundle.
  secureOptions: constants.SSL_OP_NO_TICKET,
});

/**
 * TLS in front, and behind it the protocol that was agreed on. Two plain servers that are handed their
 * connections, instead of one with `allowHTTP1`: only so can HTTP/2 use Node's cheaper stream interface.
 */
export const createListener = (options: ListenerOptions): Listener => {
  const { limits, onHandshakeError } = options;
  const protocols = { http1: http1Connections(options), http2: http2Connections(options) };
  const sockets = new Set<Socket>();
  let isStopping = false;
  const tls = createServer({
    ...secureContext(options.certificates, options.tls),
    requestCert: true,
    // Asked for, not required: tokens and anonymous probes come without, and authentication decides.
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: limits.handshakeTimeoutMs,
  });
  tls.maxConnections = limits.connectionsMax;
  const strangers = boundStrangers(tls, limits.strangersMax);
  tls.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.setNoDelay(true);
  });
  tls.on('secureConnection', (socket: TLSSocket) => {
    if (socket.authorized) strangers.recognize(socket);
    else onRecognized(socket, () => strangers.recognize(socket));
    socket.on('error', () => socket.destroy());
    // Its handshake was in progress when the server stopped accepting.
    if (isStopping) {
      socket.destroy();
      return;
    }
    (socket.alpnProtocol === 'h2' ? protocols.http2 : protocols.http1).accept(socket);
  });
  tls.on('tlsClientError', (error, socket) => {
    onHandshakeError(error);
    socket.destroy();
  });

  let whenClosed: Promise<void> = Promise.resolve();
  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        tls.once('error', reject);
        tls.listen(port, host, () => {
          tls.off('error', reject);
          whenClosed = new Promise((done) => tls.once('close', () => done()));
          resolve(tls.address() as AddressInfo);
        });
      }),
    setCertificates: (certificates) => tls.setSecureContext(secureContext(certificates, options.tls)),
    stopAccepting() {
      isStopping = true;
      tls.close();
      protocols.http1.drain();
      protocols.http2.drain();
    },
    closed: () => whenClosed,
    destroy() {
      protocols.http1.destroy();
      protocols.http2.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
};

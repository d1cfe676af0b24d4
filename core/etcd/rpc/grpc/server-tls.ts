import type { SecureContextOptions, TlsOptions, TLSSocket } from 'node:tls';
import { isAllowed, type AllowedNames } from '../../../base/node/certificate-names.ts';

/** Certificates as `node:tls` takes them: PEM. */
export interface ServerTls extends Pick<
  SecureContextOptions,
  'cert' | 'key' | 'ca' | 'ciphers' | 'minVersion' | 'maxVersion' | 'crl'
> {
  /** `--client-cert-auth`: a client without a certificate of `ca` is rejected in the handshake. */
  readonly clientCertAuth: boolean;
  /** `--client-cert-allowed-hostname` */
  readonly allowed?: AllowedNames;
}

const HANDSHAKE_TIMEOUT_MS = 10 * 1000;

export const secureContextOf = ({
  cert,
  key,
  ca,
  crl,
  ciphers,
  minVersion = 'TLSv1.2',
  maxVersion,
}: ServerTls): SecureContextOptions => ({ cert, key, ca, crl, ciphers, minVersion, maxVersion });

/** What `node:tls` and `node:https` listen with. */
export const tlsServerOptionsOf = (tls: ServerTls): TlsOptions => ({
  ...secureContextOf(tls),
  requestCert: tls.clientCertAuth || tls.ca !== undefined,
  rejectUnauthorized: tls.clientCertAuth,
  handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
});

/** Asked when the handshake is over. */
export const isClientAllowed = (socket: TLSSocket, { allowed = {} }: ServerTls): boolean =>
  isAllowed(socket.authorized ? socket.getPeerX509Certificate() : undefined, allowed);

/** Known only once the handshake is over; the type keeps callers from asking a plain socket. */
export const peerNameOf = (socket: TLSSocket): string | undefined => {
  const name: unknown = socket.authorized ? socket.getPeerCertificate().subject?.CN : undefined;
  return typeof name === 'string' ? name : undefined;
};

import { connect, type ConnectionOptions } from 'node:tls';
import { WEAK_SUITES } from '../../base/node/tls-settings.ts';

const PROBE_MS_MAX = 5_000;

export interface TlsPort {
  /** `etcd on cp-1`. */
  readonly host: string;
  readonly port: number;
  /** Where a server ends the handshake of anyone who shows no certificate. */
  readonly credential?: Pick<ConnectionOptions, 'cert' | 'key'>;
}

/** What was agreed on, `TLSv1.2 AES128-SHA`; undefined where the server, or our own library, refuses the offer. */
const agreedOn = (
  { host, port, credential }: TlsPort,
  offer: ConnectionOptions,
): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    // What a server presents does not matter here: only whether it agrees.
    const socket = connect({ host, port, rejectUnauthorized: false, ...credential, ...offer });
    let isReached = false;
    const timer = setTimeout(
      () => socket.destroy(new Error('no answer to a TLS handshake in time')),
      PROBE_MS_MAX,
    );
    const end = (agreed: string | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(agreed);
    };
    socket.once('connect', () => (isReached = true));
    socket.once('secureConnect', () => end(`${socket.getProtocol()} ${socket.getCipher().name}`));
    socket.once('close', () => end(undefined));
    socket.once('error', (error) => {
      if (isReached) return end(undefined);
      clearTimeout(timer);
      reject(error);
    });
  });

const OLD_VERSIONS = ['TLSv1', 'TLSv1.1'] as const;

/** OpenSSL offers versions before 1.2 only at its lowest security level; BoringSSL has no levels. */
const OLD_SUITES = process.versions['electron'] === undefined ? { ciphers: 'ALL:@SECLEVEL=0' } : {};

/** Weak suites and versions that a server agrees on; empty for one that does not. Rejects when no one listens. */
export const weaknessesOf = async (port: TlsPort): Promise<readonly string[]> => {
  const found: string[] = [];
  const suites = await agreedOn(port, {
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    ciphers: WEAK_SUITES.join(':'),
  });
  if (suites !== undefined) found.push(suites);
  for (const version of OLD_VERSIONS) {
    const old = await agreedOn(port, { minVersion: version, maxVersion: version, ...OLD_SUITES });
    if (old !== undefined) found.push(old);
  }
  return found;
};

import { isIP } from 'node:net';
import tls from 'node:tls';
import { inspectDer, type Certificate } from '../../../pki/index.ts';

const HANDSHAKE_MS_MAX = 5_000;

export interface ServingAddress {
  readonly host: string;
  readonly port: number;
  /** What the client says it looks for; servers with several certificates choose by it. */
  readonly serverName?: string;
}

/**
 * The certificate that a server presents now, no matter who signed it; undefined when no one answers. A server that needs a
 * certificate of the client presents its own first.
 */
export const presentedCertificate = ({
  host,
  port,
  serverName,
}: ServingAddress): Promise<Certificate | undefined> =>
  new Promise((resolve) => {
    const socket = tls.connect({
      host,
      port,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2', 'http/1.1'],
      // An address is no server name (RFC 6066, section 3).
      ...(serverName !== undefined && isIP(serverName) === 0 && { servername: serverName }),
    });
    const end = (found: Certificate | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(found);
    };
    const timer = setTimeout(() => end(undefined), HANDSHAKE_MS_MAX);
    socket.once('error', () => end(undefined));
    socket.once('close', () => end(undefined));
    socket.once('secureConnect', () => {
      const raw = socket.getPeerX509Certificate()?.raw;
      end(raw && inspectDer(raw));
    });
  });

import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { messageOf } from '../../base/errors.ts';
import { handshakeFailure } from '../../base/node/tls-failure.ts';
import { boundStrangers } from '../../base/node/strangers.ts';
import { addressOf } from './dial.ts';
import { refuseAddress } from './peer-address.ts';
import type { PeerSettings, PeerTls } from './settings.ts';
import { PeerError } from './transport.ts';

/** Connections without a verified certificate: past it the oldest is closed, so that peers are always let in. */
const HANDSHAKES_MAX = 256;

/** The doors of one member for its peers: TLS for `https://`, plain TCP for `http://`. */
export class PeerListener {
  readonly #urls: readonly string[];
  readonly #settings: PeerSettings;
  readonly #accept: (socket: Socket) => void;
  readonly #servers: Server[] = [];
  /** Also those that are still in the handshake, so that closing closes them too. */
  readonly #sockets = new Set<Socket>();

  constructor(urls: readonly string[], settings: PeerSettings, accept: (socket: Socket) => void) {
    this.#urls = urls;
    this.#settings = settings;
    this.#accept = accept;
  }

  /** The URLs that are really listened on. */
  get urls(): string[] {
    return this.#servers.map((server, i) => {
      const { secure, host } = addressOf(this.#urls[i]!);
      const { port } = server.address() as AddressInfo;
      return `http${secure ? 's' : ''}://${host.includes(':') ? `[${host}]` : host}:${port}`;
    });
  }

  async start(): Promise<void> {
    for (const url of this.#urls) {
      const { secure } = addressOf(url);
      const server: Server = secure ? this.#secureServer(url) : createTcpServer({ noDelay: true });
      server.on('connection', (socket: Socket) => this.#remember(socket));
      if (secure) this.#boundHandshakes(server);
      if (secure) server.on('secureConnection', (socket: TLSSocket) => void this.#acceptSecure(socket));
      else server.on('connection', this.#accept);
      this.#servers.push(server);
      await this.#listen(server, url);
    }
  }

  renewCertificates(tls: PeerTls): void {
    for (const server of this.#servers) {
      if ('setSecureContext' in server) (server as TlsServer).setSecureContext(contextOf(tls));
    }
  }

  async close(): Promise<void> {
    const closed = this.#servers.map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  /** Where its certificate says who it is, it must also say that it may come from there. */
  async #acceptSecure(socket: TLSSocket): Promise<void> {
    const { log } = this.#settings;
    const certificate = socket.getPeerX509Certificate();
    const isVerified = this.#settings.tls()?.verifyAddress === true && certificate !== undefined;
    if (!isVerified) return this.#accept(socket);
    // No other listener is there yet, and a connection may break while names are looked up.
    const ignore = (): void => undefined;
    socket.on('error', ignore);
    const refused = await refuseAddress(certificate, socket.remoteAddress ?? '');
    if (refused === undefined) {
      if (!socket.destroyed) this.#accept(socket);
      socket.off('error', ignore);
      return;
    }
    log.write('warn', 'rejected connection on peer endpoint', {
      'remote-addr': remoteOf(socket),
      error: refused,
    });
    socket.destroy();
  }

  #boundHandshakes(server: Server): void {
    const strangers = boundStrangers(server, HANDSHAKES_MAX);
    server.on('secureConnection', (socket: Socket) => strangers.recognize(socket));
  }

  #remember(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #secureServer(url: string): TlsServer {
    const { limits, log } = this.#settings;
    const tls = this.#settings.tls();
    if (tls === undefined)
      throw new PeerError('Refused', `${url} needs --peer-cert-file and --peer-key-file`);
    const server = createTlsServer({
      ...contextOf(tls),
      requestCert: tls.clientCertAuth,
      rejectUnauthorized: tls.clientCertAuth,
      handshakeTimeout: limits.dialTimeoutMs,
      noDelay: true,
    });
    server.on('tlsClientError', (error: Error, socket: Socket) =>
      log.write('warn', 'rejected connection on peer endpoint', {
        'remote-addr': remoteOf(socket),
        error: handshakeFailure(error, socket),
      }),
    );
    return server;
  }

  async #listen(server: Server, url: string): Promise<void> {
    const { host, port } = addressOf(url);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    server.on('error', (error) =>
      this.#settings.log.write('warn', 'peer listener failed', { url, error: messageOf(error) }),
    );
  }
}

const remoteOf = (socket: Socket): string => `${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`;

const contextOf = ({ cert, key, ca, crl, ciphers, minVersion, maxVersion }: PeerTls) => ({
  cert,
  key,
  ca,
  crl,
  ciphers,
  minVersion: minVersion ?? ('TLSv1.2' as const),
  maxVersion,
});

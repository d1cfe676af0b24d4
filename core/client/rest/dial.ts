import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { ClientConfig } from './config.ts';
import type { TlsMaterial } from './credentials.ts';
import { connectThrough, proxyFor } from './proxy.ts';
import { TransportError, transportErrorOf } from './transport.ts';

/** client-go's. */
const DIAL_TIMEOUT_MS = 30_000;
const TCP_KEEP_ALIVE_MS = 30_000;

export interface Dialed {
  readonly socket: Socket;
  readonly protocol: 'h2' | 'http/1.1';
}

export interface Endpoint {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

export const endpointOf = (server: string): Endpoint => {
  const url = new URL(server.includes('://') ? server : `https://${server}`);
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { url, host, port: Number(url.port || (isSecure ? 443 : 80)), isSecure };
};

/** A connection that is ready for requests, in the protocol that the server prefers. */
export const dial = async (
  endpoint: Endpoint,
  config: ClientConfig,
  tls: () => Promise<TlsMaterial>,
): Promise<Dialed> => {
  const limit = new AbortController();
  const timer = setTimeout(
    () =>
      limit.abort(
        new TransportError('TimedOut', `dial ${endpoint.url.host}: i/o timeout`, { maybeProcessed: false }),
      ),
    DIAL_TIMEOUT_MS,
  );
  let raw: Socket | undefined;
  try {
    const proxy = proxyFor(endpoint, config.proxyUrl, process.env);
    raw = proxy
      ? await connectThrough(proxy, endpoint, limit.signal)
      : await opened(connectTcp({ host: endpoint.host, port: endpoint.port }), 'connect', limit.signal);
    raw.setNoDelay(true);
    raw.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    if (!endpoint.isSecure) return { socket: raw, protocol: 'http/1.1' };
    const secure = connectTls({ socket: raw, ...tlsOptions(endpoint, config, await tls()) });
    await opened(secure, 'secureConnect', limit.signal);
    return { socket: secure, protocol: secure.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' };
  } catch (error) {
    raw?.destroy();
    throw transportErrorOf(error, `dial ${endpoint.url.host}`, { maybeProcessed: false });
  } finally {
    clearTimeout(timer);
  }
};

const tlsOptions = (endpoint: Endpoint, config: ClientConfig, material: TlsMaterial): ConnectionOptions => {
  const name = config.tlsServerName || endpoint.host;
  return {
    ALPNProtocols: ['h2', 'http/1.1'],
    minVersion: 'TLSv1.2',
    ...(isIP(name) === 0 && { servername: name }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    rejectUnauthorized: config.insecureSkipTlsVerify !== true,
    ...(material.authority !== undefined && { ca: material.authority }),
    ...(material.certificate !== undefined && { cert: material.certificate }),
    ...(material.key !== undefined && { key: material.key }),
  };
};

const opened = <S extends Socket | TLSSocket>(socket: S, event: string, signal: AbortSignal): Promise<S> =>
  new Promise((resolve, reject) => {
    const settle = (error: unknown): void => {
      socket.removeListener(event, onOpen);
      socket.removeListener('error', settle);
      socket.removeListener('close', onClose);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) return resolve(socket);
      // A socket that fails twice must not bring the process down.
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error as Error);
    };
    const onOpen = (): void => settle(undefined);
    const onClose = (): void => settle(new Error('the connection was closed during the handshake'));
    const onAbort = (): void => settle(signal.reason);
    if (signal.aborted) return onAbort();
    socket.once(event, onOpen);
    socket.once('error', settle);
    socket.once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
  });

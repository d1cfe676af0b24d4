import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { TransportError, transportErrorOf } from './transport.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Whether NO_PROXY names the host: itself, a domain above it, or a network that it is in. */
const isExempt = (target: Target, noProxy: string): boolean =>
  noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry === target.host || entry === `${target.host}:${target.port}`) return true;
      if (entry.includes('/')) return isInNetwork(target.host, entry);
      return isIP(entry) === 0 && target.host.endsWith(entry.startsWith('.') ? entry : `.${entry}`);
    });

const isInNetwork = (host: string, network: string): boolean => {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(host);
  if (family === 0 || isIP(address) !== family || !/^\d+$/.test(bits)) return false;
  const list = new BlockList();
  const type = family === 6 ? 'ipv6' : 'ipv4';
  if (Number(bits) > (family === 6 ? 128 : 32)) return false;
  list.addSubnet(address, Number(bits), type);
  return list.check(host, type);
};

/** As Go: requests to this machine never go through the environment's proxy. */
const isLocal = (host: string): boolean => host === 'localhost' || host === '::1' || /^127\./.test(host);

/** The proxy for a server: the configuration's, else that of HTTPS_PROXY and NO_PROXY. */
export const proxyFor = (
  target: Target,
  configured: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): URL | undefined => {
  const given = configured ?? env['HTTPS_PROXY'] ?? env['https_proxy'] ?? '';
  if (given === '') return undefined;
  if (configured === undefined) {
    if (isLocal(target.host) || isExempt(target, env['NO_PROXY'] ?? env['no_proxy'] ?? '')) return undefined;
  }
  return new URL(given.includes('://') ? given : `http://${given}`);
};

/** A connection to the target through an HTTP proxy (RFC 9110, section 9.3.6). */
export const connectThrough = (proxy: URL, target: Target, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const what = `proxy ${proxy.host}`;
    if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:')
      return reject(
        new TransportError('ProxyFailed', `${what}: ${proxy.protocol} is not supported`, {
          maybeProcessed: false,
        }),
      );
    const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
    const login = decodeURIComponent(`${proxy.username}:${proxy.password}`);
    const connect = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = connect({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      agent: false,
      signal,
      headers: {
        host: authority,
        ...(proxy.username !== '' && {
          'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}`,
        }),
      },
    });
    request.once('connect', (response, socket: Socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(
        new TransportError('ProxyFailed', `${what} returned ${response.statusCode} to CONNECT`, {
          maybeProcessed: false,
        }),
      );
    });
    request.once('response', (response) => {
      response.destroy();
      reject(new TransportError('ProxyFailed', `${what} rejected CONNECT`, { maybeProcessed: false }));
    });
    request.once('error', (error) => {
      const { message } = transportErrorOf(error, what, { maybeProcessed: false });
      reject(new TransportError('ProxyFailed', message, { maybeProcessed: false, cause: error }));
    });
    request.end();
  });

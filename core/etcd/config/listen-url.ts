import type { ListenAddress } from '../../base/node/listen-address.ts';
import { bad } from './bad-configuration.ts';

export interface ListenUrl {
  readonly url: string;
  readonly secure: boolean;
  readonly address: ListenAddress;
}

/** `unix://` takes what follows as a path, relative to the working directory unless it starts with a slash. */
const SOCKET = /^(unixs?):\/\/(.+)$/;
/** What a socket's path may have on Linux, without its end; macOS allows a few less. */
const SOCKET_PATH_BYTES_MAX = 107;

const socketUrl = (flagName: string, url: string, [, scheme, path]: RegExpExecArray): ListenUrl => {
  if (Buffer.byteLength(path!) > SOCKET_PATH_BYTES_MAX)
    bad(`--${flagName}: the path of ${url} must have at most ${SOCKET_PATH_BYTES_MAX} bytes`);
  return { url, secure: scheme === 'unixs', address: { path: path! } };
};

/** Checked as etcd checks it, and the line names the flag. */
export const parseUrl = (
  flagName: string,
  url: string,
  { sockets = false }: { readonly sockets?: boolean } = {},
): ListenUrl => {
  const socket = sockets ? SOCKET.exec(url) : null;
  if (socket !== null) return socketUrl(flagName, url, socket);
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return bad(
      `--${flagName}: ${JSON.stringify(url)} is not a URL; it wants one such as https://127.0.0.1:2379`,
    );
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    bad(`--${flagName}: ${url} must start with http:// or https://${sockets ? ', unix:// or unixs://' : ''}`);
  // The parser drops a port that is the scheme's own.
  const port = parsed.port || /:(80|443)\/?$/.exec(url)?.[1];
  if (port === undefined) return bad(`--${flagName}: ${url} must name a port`);
  if (parsed.pathname !== '/' && parsed.pathname !== '') bad(`--${flagName}: ${url} must not have a path`);
  return {
    url,
    secure: parsed.protocol === 'https:',
    address: { host: parsed.hostname.replace(/^\[|\]$/g, ''), port: Number(port) },
  };
};

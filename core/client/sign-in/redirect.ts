import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../base/errors.ts';
import type { Disposable } from '../../base/disposable.ts';
import { signInError } from './provider.ts';

/** kubelogin's, which many providers have registered already. */
export const LISTEN_ADDRESSES: readonly string[] = ['127.0.0.1:8000', '127.0.0.1:18000'];
const HEADER_BYTES_MAX = 16 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

export interface Redirect extends Disposable {
  /** Where the provider sends the browser. */
  readonly url: string;
  /** The code of the sign-in with this state. Rejects when the provider reports an error for it. */
  code(state: string): Promise<string>;
}

const page = (title: string, text: string): string => {
  const escape = (raw: string): string =>
    raw.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escape(title)}</title><style>body{font:16px system-ui;margin:4rem auto;max-width:32rem;color-scheme:light dark}</style><h1>${escape(title)}</h1><p>${escape(text)}</p></html>`;
};

const answer = (response: ServerResponse, code: number, html: string): void => {
  response.writeHead(code, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(html);
};

const listenOn = (server: Server, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const colon = address.lastIndexOf(':');
    const [host, port] = [address.slice(0, colon), Number(address.slice(colon + 1))];
    if (colon <= 0 || !Number.isInteger(port))
      return reject(new Error(`"${address}" is not an address; write HOST:PORT`));
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** Listens on the first address that is free. Only loopback gets the code, so only loopback may be listened on. */
export const openRedirect = async (addresses: readonly string[]): Promise<Redirect> => {
  let waiting: { state: string; resolve(code: string): void; reject(error: unknown): void } | undefined;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.method !== 'GET' || url.pathname !== '/')
      return answer(response, 404, page('Not found', 'This address is for signing in only.'));
    // A page that only guessed the port does not know the state and does not end the sign-in.
    if (!waiting || url.searchParams.get('state') !== waiting.state)
      return answer(
        response,
        400,
        page('Not signed in', 'This page belongs to another sign-in. Start again.'),
      );
    const { resolve, reject } = waiting;
    waiting = undefined;
    const code = url.searchParams.get('code');
    if (code !== null && code !== '') {
      answer(response, 200, page('Signed in', 'You can close this window and return to Pilothouse.'));
      return resolve(code);
    }
    const why =
      url.searchParams.get('error_description') ??
      url.searchParams.get('error') ??
      'the provider sent no code';
    answer(response, 400, page('Not signed in', why));
    reject(signInError('Denied', `the provider denied the sign-in: ${why}`));
  };
  const server = createServer(
    { maxHeaderSize: HEADER_BYTES_MAX, requestTimeout: REQUEST_TIMEOUT_MS },
    onRequest,
  );
  const failures: string[] = [];
  for (const address of addresses) {
    if (!/^(127\.\d+\.\d+\.\d+|localhost|\[::1\]):/.test(address)) {
      failures.push(`${address} is not a loopback address`);
      continue;
    }
    try {
      await listenOn(server, address);
      const { port } = server.address() as AddressInfo;
      return {
        url: `http://localhost:${port}`,
        code: (state) => new Promise((resolve, reject) => (waiting = { state, resolve, reject })),
        dispose() {
          server.close();
          server.closeAllConnections();
        },
      };
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  throw signInError('CannotListen', `cannot listen for the browser: ${failures.join('; ')}`);
};

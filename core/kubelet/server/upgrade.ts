import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers an upgrade request that is refused, as an ordinary response. */
export const refuseUpgrade = (
  socket: Duplex,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  const body = Buffer.from(message);
  const lines = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]));
};

const upgradesTo = (request: IncomingMessage): string => (request.headers.upgrade ?? '').toLowerCase();
export const isWebSocketRequest = (request: IncomingMessage): boolean => upgradesTo(request) === 'websocket';
export const isSpdyRequest = (request: IncomingMessage): boolean => upgradesTo(request) === 'spdy/3.1';

/**
 * Agrees on the protocol inside SPDY and switches to it. Undefined when there is none in common: the client was then
 * told what there is. A client that names none speaks the oldest.
 */
export const acceptSpdy = (
  request: IncomingMessage,
  socket: Duplex,
  supported: readonly string[],
): string | undefined => {
  const offered = String(request.headers['x-stream-protocol-version'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const protocol = offered.length === 0 ? supported.at(-1) : supported.find((name) => offered.includes(name));
  if (protocol === undefined) {
    const message = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${supported.join(' ')}]`;
    refuseUpgrade(socket, 403, message, { 'X-Accepted-Stream-Protocol-Versions': supported.join(', ') });
    return undefined;
  }
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1'];
  if (offered.length > 0) lines.push(`X-Stream-Protocol-Version: ${protocol}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return protocol;
};

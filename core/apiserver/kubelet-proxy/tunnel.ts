import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { badRequest, StatusError } from '../../api/meta/index.ts';
import type { RequestContext } from '../server/context.ts';
import { dialErrorText } from './dial-error.ts';
import { ask, giveBack, headersFor, type Backend } from './forward.ts';

const SWITCHING_PROTOCOLS = 101;
const FIRST_ERROR = 400;
/** How long the last bytes of one side may take to reach the other. */
const LINGER_MS = 10_000;

interface Switched {
  readonly socket: Duplex;
  /** Bytes of the new protocol that came with the backend's answer. */
  readonly head: Buffer;
}

const failure = (text: string, cause?: unknown): StatusError =>
  new StatusError('', text, { code: 500, cause });

/** As the backend wrote it, name by name. Node has parsed it, so no value holds the end of a line. */
const switchedHead = ({ rawHeaders }: IncomingMessage): string => {
  const lines = ['HTTP/1.1 101 Switching Protocols'];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
};

const hasBody = ({ request }: RequestContext): boolean =>
  request.headers.get('transfer-encoding') !== undefined ||
  (request.headers.get('content-length') ?? '0').trim() !== '0';

/**
 * Asks the backend to switch protocols. Bytes pass unseen in both directions only after it answered 101: until then
 * the connection carries one request of this server's making, so that a client whose upgrade was refused cannot send a
 * second one under this server's identity.
 */
export const tunnel = async (context: RequestContext, backend: Backend): Promise<void> => {
  const { request } = context;
  if (hasBody(context)) throw badRequest('a request that upgrades its connection must not have a body');
  let switched: Switched | undefined;
  const answer = await ask(context, backend, {
    headers: {
      ...headersFor(context, backend),
      connection: 'Upgrade',
      upgrade: [...request.headers.all('upgrade')].join(', '),
    },
    onSwitched: (_answer, socket, head) => (switched = { socket, head }),
  }).catch((error: unknown) => {
    throw failure(`error dialing backend: ${dialErrorText(backend, error)}`, error);
  });
  if (switched !== undefined) return joinEnds(context, answer, switched);
  const code = answer.statusCode ?? 0;
  if (code >= FIRST_ERROR) return giveBack(context, answer);
  answer.destroy();
  throw failure(`invalid upgrade response: status code ${code}`);
};

const joinEnds = async (
  { request, response }: RequestContext,
  answer: IncomingMessage,
  { socket: backend, head }: Switched,
): Promise<void> => {
  backend.on('error', () => backend.destroy());
  const taken = request.upgrade();
  if (taken === undefined) {
    backend.destroy();
    throw badRequest('Upgrade request required');
  }
  response.hijacked(SWITCHING_PROTOCOLS);
  const { socket: client } = taken;
  client.write(switchedHead(answer), 'latin1');
  if (head.byteLength > 0) client.write(head);
  if (taken.head.byteLength > 0) backend.write(taken.head);
  backend.pipe(client);
  client.pipe(backend);
  await Promise.race([closed(backend), closed(client)]);
  await Promise.all([closeWhenWritten(backend), closeWhenWritten(client)]);
};

const closed = (end: Duplex): Promise<void> =>
  new Promise((resolve) => {
    if (end.destroyed) resolve();
    else end.on('error', () => end.destroy()).once('close', () => resolve());
  });

/** The other side may have closed right after its last bytes: they are still delivered, to anyone who reads them. */
const closeWhenWritten = async (end: Duplex): Promise<void> => {
  const late = setTimeout(() => end.destroy(), LINGER_MS);
  end.end(() => end.destroy());
  await closed(end);
  clearTimeout(late);
};

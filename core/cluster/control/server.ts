import { chmodSync, rmSync } from 'node:fs';
import { saidOf } from '../../contract/index.ts';
import { createServer, type Socket } from 'node:net';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { onJsonLines, sendJsonLine } from './lines.ts';
import type { ControlAnswer, ControlMethod, ControlRequest, ParamsOf, ResultOf } from './protocol.ts';

export type ControlHandlers = {
  readonly [M in ControlMethod]: (
    params: ParamsOf<M>,
    progress: (line: string) => void,
  ) => Promise<ResultOf<M>>;
};

const CONNECTIONS_MAX = 64;

const isRequest = (value: unknown): value is ControlRequest => {
  const { id, method, params } = (value ?? {}) as Partial<ControlRequest>;
  return (
    typeof id === 'number' && typeof method === 'string' && typeof params === 'object' && params !== null
  );
};

const reasonOf = (error: unknown): string => (error instanceof ReasonError ? error.reason : 'Failed');

/** Parameters are all texts and numbers; a handler looks further itself. */
const assertParams = ({ method, params }: ControlRequest): void => {
  const isPlain = Object.values(params).every((value) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  if (!isPlain) throw new ReasonError('BadRequest', `${method}: parameters must be strings or numbers`);
};

/** Listens for commands of this user. The caller holds the lock of the folder, so what is there is left over. */
export const serveControl = async (
  endpoint: string,
  handlers: ControlHandlers,
): Promise<{ close(): Promise<void> }> => {
  if (process.platform !== 'win32') rmSync(endpoint, { force: true });
  const sockets = new Set<Socket>();
  const answer = async (socket: Socket, request: ControlRequest): Promise<void> => {
    const { id, method, params } = request;
    const send = (message: ControlAnswer): void => sendJsonLine(socket, message);
    try {
      if (!Object.hasOwn(handlers, method)) throw new ReasonError('BadRequest', `unknown method ${method}`);
      assertParams(request);
      const handler = handlers[method as ControlMethod] as (
        params: unknown,
        progress: (line: string) => void,
      ) => Promise<unknown>;
      send({ id, result: await handler(params, (line) => send({ id, progress: line })) });
    } catch (error) {
      send({ id, error: { reason: reasonOf(error), message: messageOf(error), said: saidOf(error) } });
    }
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    onJsonLines(socket, (value) => {
      if (isRequest(value)) void answer(socket, value);
      else socket.destroy();
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(endpoint, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  if (process.platform !== 'win32') chmodSync(endpoint, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};

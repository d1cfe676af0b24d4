import { connect, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Target } from './target.ts';

const dialTimeout = (target: Target, timeoutMs: number): Error =>
  Object.assign(new Error(`connect ETIMEDOUT ${target.name} after ${timeoutMs} ms`), { code: 'ETIMEDOUT' });

/**
 * Connects to a target. The socket stays writable after the other side has ended, so that a half-close can be carried
 * on. Aborting the signal gives up.
 */
export const dial = (
  target: Target,
  options: {
    readonly clock: Clock;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    /** The address to connect from. */
    readonly localAddress?: string | undefined;
  },
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { clock, timeoutMs, signal, localAddress } = options;
    const socket = connect({
      host: target.host,
      port: target.port,
      allowHalfOpen: true,
      noDelay: true,
      ...(localAddress !== undefined && { localAddress }),
    });
    const settle = (): void => {
      timer.dispose();
      signal.removeEventListener('abort', abandon);
      socket.removeListener('error', fail);
    };
    const fail = (error: Error): void => {
      settle();
      // A second error of a socket that is given up has no one to tell.
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const abandon = (): void => fail(new Error('the client has gone'));
    const timer = clock.after(timeoutMs, () => fail(dialTimeout(target, timeoutMs)));
    socket.once('error', fail);
    socket.once('connect', () => {
      settle();
      resolve(socket);
    });
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });

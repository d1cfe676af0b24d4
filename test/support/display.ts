import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** A screen for windows: the one there is, or an X server of our own. */
export interface Display {
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const SCREEN = '1920x1200x24';

export const openDisplay = async (): Promise<Display> => {
  if (process.platform !== 'linux' || process.env['DISPLAY'])
    return { env: {}, close: () => Promise.resolve() };
  // -displayfd: the server itself picks a free number and tells it once it listens.
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', SCREEN, '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const exited = once(server, 'exit');
  const told = once(server.stdio[3] as Readable, 'data').then(([chunk]) => String(chunk).trim());
  const number = await Promise.race([told, exited.then(() => undefined)]);
  if (number === undefined) throw new Error('Xvfb failed to start; install the package xvfb');
  return {
    env: { DISPLAY: `:${number}` },
    async close() {
      server.kill('SIGTERM');
      await exited;
    },
  };
};

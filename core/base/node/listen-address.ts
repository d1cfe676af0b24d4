import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** Where a listener listens: an address, or a Unix socket. */
export type ListenAddress =
  { readonly host: string; readonly port: number; readonly path?: undefined } | { readonly path: string };

/** True when a process accepts connections there. */
const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path });
    const answer = (served: boolean): void => {
      socket.destroy();
      resolve(served);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });

/** Removes the Unix socket that a process left when it was killed. One in use, and every other file, stays. */
export const freeSocketPath = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() === true && !(await isServed(path))) await unlink(path).catch(() => undefined);
};

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toDisposable, type Disposable } from '../disposable.ts';
import { messageOf, ReasonError } from '../errors.ts';

export type LockFailure = 'Locked' | 'BadDirectory';

const OWNER_FILE = '.owner';

/**
 * A name that only one process can listen on, and that the system frees the moment that process is gone,
 * however it ended: a file with a process id cannot tell a crash from a process that reuses the number.
 */
const lockName = (directory: string): string => {
  const name = `pilothouse-${createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 32)}`;
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return join(tmpdir(), `${name}.sock`);
};

const listen = (name: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(name, () => {
      server.unref();
      resolve(server);
    });
  });

const answers = (name: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(name, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const acquire = async (name: string): Promise<Server | undefined> => {
  try {
    return await listen(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    // Only where the name is a file can a dead process leave it behind.
    if (!name.endsWith('.sock') || (await answers(name))) return undefined;
    rmSync(name, { force: true });
    return listen(name).catch(() => undefined);
  }
};

const ownerOf = (directory: string): string => {
  try {
    return ` by process ${readFileSync(join(directory, OWNER_FILE), 'utf8')}`;
  } catch {
    return '';
  }
};

/** Keeps every other process out of a folder until disposed. Makes the folder when it is not there. */
export const lockDirectory = async (directory: string): Promise<Disposable> => {
  const unusable = (cause: unknown): ReasonError<LockFailure> =>
    new ReasonError('BadDirectory', `cannot use the data directory ${directory}: ${messageOf(cause)}`, {
      cause,
    });
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unusable(cause);
  }
  const server = await acquire(lockName(directory));
  if (server === undefined)
    throw new ReasonError<LockFailure>(
      'Locked',
      `the data directory ${directory} is in use${ownerOf(directory)}; stop that process first`,
    );
  const ownerFile = join(directory, OWNER_FILE);
  try {
    writeFileSync(ownerFile, String(process.pid), { mode: 0o600 });
  } catch (cause) {
    server.close();
    throw unusable(cause);
  }
  return toDisposable(() => {
    rmSync(ownerFile, { force: true });
    server.close();
  });
};

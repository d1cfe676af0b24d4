import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';

const LOCK_NAME = 'member.lock';

const isAlive = (pid: number): boolean => {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Keeps a second process out of a data folder. The lock of a process that is gone is taken over. */
export const lockDirectory = (directory: string): Promise<Disposable> => {
  const path = join(directory, LOCK_NAME);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new ReasonError('BadDirectory', `cannot use the data folder ${directory}: ${messageOf(cause)}`, {
      cause,
    });
  }
  for (const isRetry of [false, true]) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, String(process.pid));
      closeSync(file);
      return Promise.resolve(toDisposable(() => rmSync(path, { force: true })));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new ReasonError(
          'BadDirectory',
          `cannot write to the data folder ${directory}: ${messageOf(cause)}`,
          {
            cause,
          },
        );
      const pid = Number(readFileSync(path, 'utf8'));
      if (isRetry || (pid !== process.pid && isAlive(pid)))
        throw new ReasonError(
          'Locked',
          `the data folder ${directory} is in use by process ${pid}; stop that process first`,
        );
      rmSync(path, { force: true });
    }
  }
  throw new ReasonError('Locked', `the data folder ${directory} is in use`);
};

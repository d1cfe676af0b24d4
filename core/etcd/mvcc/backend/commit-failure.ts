import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, ReasonError } from '../../../base/errors.ts';

/** The cause follows within the same turn of lmdb's thread; without it the failure is reported as it is. */
const CAUSE_WAIT_MS = 1000;
/** LMDB copies the pages above each changed one; a commit that needs less than this beside its values is usual. */
const FREE_BYTES_MIN = 8 * 1024 * 1024;

const isFull = async (path: string, bytes: number): Promise<boolean> => {
  try {
    const { bavail, bsize } = await statfs(dirname(path));
    return bavail * bsize < FREE_BYTES_MIN + bytes;
  } catch {
    // The disk may be gone altogether: then the cause says so.
    return false;
  }
};

const noSpace = (path: string, cause?: unknown): Error =>
  new ReasonError(
    'CommitFailed',
    `cannot write ${path}: no space left on device; free space and start it again`,
    {
      cause,
    },
  );

/** LMDB may abort the process when a write fails half-way, so a disk that is nearly full is not tried. */
export const ensureSpace = async (path: string, bytes: number): Promise<void> => {
  if (await isFull(path, bytes)) throw noSpace(path);
};

/**
 * One line for a commit that failed. lmdb rejects with a promise of the cause, which rejects later: left alone, it would
 * end the process as an unhandled rejection before the member could stop and say why.
 */
export const commitFailure = async (error: unknown, path: string): Promise<Error> => {
  const { commitError } = error as { readonly commitError?: Promise<unknown> };
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<unknown>((resolve) => (timer = setTimeout(resolve, CAUSE_WAIT_MS, error)));
  const cause = await Promise.race([
    (commitError ?? Promise.resolve(error)).catch((reason: unknown) => reason),
    waited,
  ]);
  clearTimeout(timer);
  return (await isFull(path, 0))
    ? noSpace(path, cause)
    : new ReasonError('CommitFailed', `cannot write ${path}: ${messageOf(cause)}`, { cause });
};

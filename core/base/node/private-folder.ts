import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { ReasonError } from '../errors.ts';

const PRIVATE_MODE = 0o700;
const OTHERS_BITS = 0o077;

/** Why a folder in a place that everybody can write to is not safe to use; undefined where it is. */
export const folderFault = (stats: Stats, uid: number): string | undefined => {
  if (stats.isSymbolicLink()) return 'it is a symbolic link';
  if (!stats.isDirectory()) return 'it is not a directory';
  if (stats.uid !== uid) return `it belongs to user ${stats.uid}`;
  if ((stats.mode & OTHERS_BITS) !== 0)
    return `its mode is ${(stats.mode & 0o777).toString(8)}, open to other users`;
  return undefined;
};

/**
 * Makes a folder of this user's own where every user may write, such as the temporary folder. One that is there already is
 * used only if no one else can reach into it: another user may have made it first, to listen in our place.
 */
export const ensurePrivateFolder = (path: string, uid: number): void => {
  mkdirSync(path, { recursive: true, mode: PRIVATE_MODE });
  const fault = folderFault(lstatSync(path), uid);
  if (fault === undefined) return;
  throw new ReasonError(
    'UnsafeDirectory',
    `${path} is not safe to use: ${fault}; remove it, or set TMPDIR to a directory of your own`,
  );
};

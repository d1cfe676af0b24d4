import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ReasonError } from '../../base/errors.ts';

const DATABASE = /^db\.\d+\.lmdb$/;
/** Every database of LMDB has this in its two first pages; a file without it would be mapped all the same. */
const LMDB_MAGIC = Buffer.from('dec0efbe', 'hex');
const PAGE_BYTES = 4096;
const META_BYTES = 64;

const ADVICE =
  'restore the directory from a backup, remove this member and add it again, or restore the cluster from a snapshot';

const hasMeta = async (path: string): Promise<boolean> => {
  const file = await open(path, 'r');
  try {
    const pages = Buffer.alloc(PAGE_BYTES + META_BYTES);
    const { bytesRead } = await file.read(pages, 0, pages.length, 0);
    // Made, and cut off before the first page was written.
    if (bytesRead === 0) return true;
    return [0, PAGE_BYTES].some((at) => pages.subarray(at, at + META_BYTES).includes(LMDB_MAGIC));
  } finally {
    await file.close();
  }
};

/** A database that is none must not be opened: LMDB maps it, and the whole process of the host crashes. */
export const assertMemberFiles = async (memberDirectory: string): Promise<void> => {
  const folder = join(memberDirectory, 'db');
  const databases = existsSync(folder) ? (await readdir(folder)).filter((name) => DATABASE.test(name)) : [];
  for (const name of databases)
    if (!(await hasMeta(join(folder, name))))
      throw new ReasonError(
        'Damaged',
        `${join(folder, name)} is damaged and not a valid database; ${ADVICE}`,
      );
};

import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { findPageDamage, type PageMeta } from './lmdb-pages.ts';

const DATABASE_FOLDER = /^db(-\d+)?$/;
const DATABASE = /^db\.\d+\.lmdb$/;
/** Every database of LMDB has this in its two first pages; a file without it would be mapped all the same. */
const LMDB_MAGIC = Buffer.from('dec0efbe', 'hex');
const FIRST_PAGE_BYTES = 4096;
const META_BYTES = 256;
/** From the magic: the size of a page, the last page in use, the transaction that wrote it. */
const META = { pageBytes: 24, lastPage: 120, transaction: 128, end: 136 } as const;

const PAGE_BYTES_MAX = 64 * 1024;
/** Far above any quota; more can only be damage. */
const DATABASE_BYTES_MAX = 2 ** 40;

/** What LMDB says of pages that are not what they should be. */
const DAMAGE = /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH|PANIC|BAD_TXN)/;

const ADVICE =
  'restore the directory from a backup, remove this member and add it again, or restore the cluster from a snapshot';

const damaged = (path: string, cause?: unknown): ReasonError =>
  new ReasonError(
    'Damaged',
    `${path} is damaged and not a valid database${cause === undefined ? '' : ` (${messageOf(cause)})`}; ${ADVICE}`,
    { cause },
  );

interface Meta extends PageMeta {
  readonly transaction: bigint;
  readonly usedBytes: number;
}

const metaIn = (page: Buffer): Meta | undefined => {
  const at = page.indexOf(LMDB_MAGIC);
  if (at < 0 || at + META.end > page.length) return undefined;
  const pageBytes = page.readUInt32LE(at + META.pageBytes);
  const lastPage = page.readBigUInt64LE(at + META.lastPage);
  const usedBytes = (Number(lastPage) + 1) * pageBytes;
  const isPlausible =
    pageBytes >= META_BYTES &&
    pageBytes <= PAGE_BYTES_MAX &&
    (pageBytes & (pageBytes - 1)) === 0 &&
    usedBytes <= DATABASE_BYTES_MAX;
  if (!isPlausible) return undefined;
  return {
    transaction: page.readBigUInt64LE(at + META.transaction),
    usedBytes,
    pageBytes,
    lastPage: Number(lastPage),
    // A copy: the pages are read into the same memory.
    trees: Buffer.from(page.subarray(at + META.pageBytes, at + META.lastPage)),
  };
};

/**
 * LMDB maps a file as it is. One that is none, or whose pages point elsewhere, crashes the whole process of the host, so it
 * is refused here.
 */
const prepare = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    const pages = Buffer.alloc(FIRST_PAGE_BYTES + META_BYTES);
    const { bytesRead } = await file.read(pages, 0, pages.length, 0);
    // Made, and cut off before the first page was written: the log has everything.
    if (bytesRead === 0) return;
    const metas = [0, FIRST_PAGE_BYTES].flatMap((at) => metaIn(pages.subarray(at, at + META_BYTES)) ?? []);
    const newest = metas.sort((a, b) => Number(b.transaction - a.transaction))[0];
    if (newest === undefined) throw damaged(path);
    const damage = await findPageDamage(file, newest);
    if (damage !== undefined) throw damaged(path, new Error(damage));
    // Pages at the end that are free need not be there; LMDB would map them all the same.
    const { size } = await file.stat();
    if (size < newest.usedBytes) await file.truncate(newest.usedBytes);
  } finally {
    await file.close();
  }
};

/** Before the databases of a member are opened. */
export const prepareDatabases = async (memberDirectory: string): Promise<void> => {
  const names = existsSync(memberDirectory) ? await readdir(memberDirectory) : [];
  for (const name of names.filter((one) => DATABASE_FOLDER.test(one))) {
    const folder = join(memberDirectory, name);
    for (const file of (await readdir(folder)).filter((one) => DATABASE.test(one)))
      await prepare(join(folder, file));
  }
};

/** The same error, or one that says which folder is damaged and what to do. */
export const explainDamage = (error: unknown, memberDirectory: string): unknown =>
  DAMAGE.test(messageOf(error)) ? damaged(memberDirectory, error) : error;

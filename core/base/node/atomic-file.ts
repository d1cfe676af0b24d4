import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nodeDisk } from './disk.ts';

const PRIVATE_FILE_MODE = 0o600;

/**
 * Replaces a file so that a reader, and a crash at any moment, sees the old contents or the new, never a
 * part. Durable when it resolves. The folder must exist; the new file has `mode` whatever the old one had.
 */
export const writeFileAtomically = async (
  path: string,
  data: string | Uint8Array,
  mode: number = PRIVATE_FILE_MODE,
): Promise<void> => {
  // Random, so that two processes that replace the same file do not write into each other's draft.
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(draft, 'wx', mode);
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await nodeDisk.syncDirectory(dirname(path));
};

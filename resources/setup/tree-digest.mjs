import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** More than any build of Electron holds. */
const FILES_MAX = 10_000;

const sha256Of = async (path) => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
};

/**
 * One digest of a folder: the names and contents of all files below it. A file that was changed, added or removed, or
 * replaced by a link, changes it. Undefined where there is no such folder.
 */
export const treeDigest = async (folder) => {
  let entries;
  try {
    entries = await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
  if (entries.length > FILES_MAX) return undefined;
  const lines = [];
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = entry.isFile() ? await sha256Of(path) : 'not a file';
    lines.push(`${content} ${path.slice(folder.length + 1).replaceAll('\\', '/')}\n`);
  }
  return createHash('sha256').update(lines.sort().join('')).digest('hex');
};

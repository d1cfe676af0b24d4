import { rm } from 'node:fs/promises';
import { treeDigest } from './tree-digest.mjs';

/**
 * Sees to it that a folder holds exactly what was reviewed, before each use: what was changed since it was fetched is
 * deleted and fetched again. `fetch` fills the folder, or gives one line that says why it cannot; resolves with that line,
 * or with undefined when the folder is as it should be.
 */
export const verifiedCache = async ({ folder, digest, fetch, log }) => {
  const found = await treeDigest(folder);
  if (found === digest) return undefined;
  if (found !== undefined) {
    log(`${folder} is not what was fetched; fetching it again`);
    await rm(folder, { recursive: true, force: true });
  }
  const missing = await fetch();
  if (missing !== undefined) return missing;
  if ((await treeDigest(folder)) === digest) return undefined;
  return `${folder} does not match its recorded digest after it was fetched; it is not used`;
};

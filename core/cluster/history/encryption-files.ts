import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClusterConfig } from '../config/config.ts';
import { encryptionFileOf } from '../data-folder/configured-file.ts';
import { PREVIOUS_ENCRYPTION_FILE } from '../manifests/guard-files.ts';

/** The keys of a cluster of ours: those in use, then those that the last rotation replaced. */
export const encryptionFilesOf = async (data: string, config: ClusterConfig): Promise<readonly string[]> => {
  const file = await encryptionFileOf(data, config);
  if (file === undefined) return [];
  const previous = join(dirname(file), PREVIOUS_ENCRYPTION_FILE);
  return existsSync(previous) ? [file, previous] : [file];
};

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FOLDER_MODE } from '../data-folder/layout.ts';

export const metricsFolder = (dataDirectory: string): string => join(dataDirectory, 'metrics');

/** Not with its parents: the folder of a cluster that was deleted must not come back. */
export const makeMetricsFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { mode: PRIVATE_FOLDER_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
};

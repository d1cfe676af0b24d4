import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FOLDER_MODE } from '../data-folder/layout.ts';
import { LineReader, type StoredEntry } from './entry-lines.ts';

export const timelineFolder = (dataDirectory: string): string => join(dataDirectory, 'timeline');

/** Not with its parents: the folder of a cluster that was deleted must not come back. */
export const makeTimelineFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { mode: PRIVATE_FOLDER_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
};

export interface TimelineFile {
  readonly path: string;
  readonly firstId: number;
  bytes: number;
}

const NAME = /^(\d{1,15})\.jsonl$/;

/** Oldest first. */
export const listTimelineFiles = async (folder: string): Promise<TimelineFile[]> => {
  const names = await readdir(folder).catch(() => []);
  const found: TimelineFile[] = [];
  for (const name of names) {
    const firstId = NAME.exec(name)?.[1];
    if (firstId === undefined) continue;
    const path = join(folder, name);
    // The process that writes may have deleted it since.
    const bytes = await stat(path).then(
      ({ size }) => size,
      () => undefined,
    );
    if (bytes !== undefined) found.push({ path, firstId: Number(firstId), bytes });
  }
  return found.sort((a, b) => a.firstId - b.firstId);
};

export interface StoredTimeline {
  readonly entries: readonly StoredEntry[];
  readonly damagedLines: number;
}

/** Everything that is stored, in the order of the log. A file at a time, so that other work gets its turn. */
export const readTimelineFiles = async (
  files: readonly TimelineFile[],
  isRecording: boolean,
): Promise<StoredTimeline> => {
  const reader = new LineReader();
  for (const { path } of files) reader.add(await readFile(path, 'utf8').catch(() => ''));
  if (!isRecording) reader.breakOff();
  return { entries: reader.entries, damagedLines: reader.damagedLines };
};

import type { TimelineEntry } from '../../contract/index.ts';
import { relateAll } from './relate.ts';
import { listTimelineFiles, readTimelineFiles, timelineFolder } from './timeline-files.ts';

export interface ReadTimeline {
  /** Oldest first, each with its cause. */
  readonly entries: readonly TimelineEntry[];
  readonly damagedLines: number;
}

/** Reads what is stored of a cluster, whichever process runs it. */
export const readTimeline = async (
  dataDirectory: string,
  /** A cluster that does not run ended with the last entry, however it ended. */
  isRunning: boolean,
): Promise<ReadTimeline> => {
  const { entries, damagedLines } = await readTimelineFiles(
    await listTimelineFiles(timelineFolder(dataDirectory)),
    isRunning,
  );
  return { entries: relateAll(entries), damagedLines };
};

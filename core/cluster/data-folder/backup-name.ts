/** A stamp that sorts by time and fits into a file name. */
export const stampOf = (atMs: number): string => new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** Snapshots of the schedule carry this name; retention looks at them alone. */
export const SCHEDULED_PREFIX = 'scheduled';
export const SNAPSHOT_SUFFIX = '.db';

export const isScheduledName = (name: string): boolean =>
  name.startsWith(`${SCHEDULED_PREFIX}-`) && name.endsWith(SNAPSHOT_SUFFIX);

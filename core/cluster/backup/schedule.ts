import { constants } from 'node:fs';
import { say, saidOf, SaidError, together, type Said } from '../../contract/index.ts';
import { access, mkdir } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { backupSchedule, type BackupSchedule } from '../../contract/schemas/operations.ts';
import { backupsFolder, PRIVATE_FOLDER_MODE } from '../data-folder/layout.ts';
import { stateFile } from '../data-folder/state-file.ts';

/** Daily, a week of them: off until somebody wants it. */
export const DEFAULT_SCHEDULE: BackupSchedule = { enabled: false, everyMinutes: 1440, keep: 7 };

const file = stateFile({
  schema: backupSchedule,
  path: (data) => join(backupsFolder(data), 'schedule.json'),
  remedy: say('directory.damaged.schedule'),
});

export const readBackupSchedule = async (data: string): Promise<BackupSchedule> =>
  (await file.read(data)) ?? DEFAULT_SCHEDULE;

/** Where scheduled snapshots are saved. */
export const scheduledFolder = (data: string, { directory }: BackupSchedule): string =>
  directory ?? backupsFolder(data);

/** Every folder with snapshots of this cluster: manual ones are in `backups/`. */
export const snapshotFolders = async (data: string): Promise<readonly string[]> => {
  const own = backupsFolder(data);
  const scheduled = scheduledFolder(data, await readBackupSchedule(data));
  return resolve(scheduled) === resolve(own) ? [own] : [own, scheduled];
};

/** A directory that cannot be written to is refused now, and not found out by the first snapshot. */
export const assertBackupDirectory = async (directory: string): Promise<void> => {
  const fault = (why: Said, cause?: unknown): SaidError =>
    new SaidError('BadDirectory', say('failure.snapshot.directory', { directory, why }), { cause });
  if (!isAbsolute(directory)) throw fault(say('failure.snapshot.absolute'));
  try {
    await mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw fault(together([saidOf(cause), say('failure.snapshot.choose')]), cause);
  }
};

/** Takes effect in a running cluster when `BackupRunner` is told; else with the next start. */
export const writeBackupSchedule = (data: string, schedule: BackupSchedule): Promise<void> =>
  file.write(data, schedule);

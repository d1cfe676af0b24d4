import { join } from 'node:path';
import { backupSchedule, type BackupSchedule } from '../../contract/schemas/operations.ts';
import { backupsFolder } from '../data-folder/layout.ts';
import { stateFile } from '../data-folder/state-file.ts';

/** Daily, a week of them: off until somebody wants it. */
export const DEFAULT_SCHEDULE: BackupSchedule = { enabled: false, everyMinutes: 1440, keep: 7 };

const file = stateFile({
  schema: backupSchedule,
  path: (data) => join(backupsFolder(data), 'schedule.json'),
  remedy: 'delete it or set the schedule again',
});

export const readBackupSchedule = async (data: string): Promise<BackupSchedule> =>
  (await file.read(data)) ?? DEFAULT_SCHEDULE;

/** Takes effect in a running cluster when `BackupRunner` is told; else with the next start. */
export const writeBackupSchedule = (data: string, schedule: BackupSchedule): Promise<void> =>
  file.write(data, schedule);

import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { backupSchedule, type BackupSchedule } from '../../contract/schemas/operations.ts';
import { backupsFolder, PRIVATE_FOLDER_MODE } from '../data-folder/layout.ts';

/** Daily, a week of them: off until somebody wants it. */
export const DEFAULT_SCHEDULE: BackupSchedule = { enabled: false, everyMinutes: 1440, keep: 7 };

const scheduleFile = (data: string): string => join(backupsFolder(data), 'schedule.json');

export const readBackupSchedule = async (data: string): Promise<BackupSchedule> => {
  let text: string;
  try {
    text = await readFile(scheduleFile(data), 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return DEFAULT_SCHEDULE;
    throw cause;
  }
  try {
    return v.parse(backupSchedule, JSON.parse(text));
  } catch (cause) {
    throw new ReasonError(
      'BadConfiguration',
      `${scheduleFile(data)} is damaged: ${messageOf(cause)}; delete it or set the schedule again`,
      { cause },
    );
  }
};

/** Takes effect in a running cluster when `BackupRunner` is told; else with the next start. */
export const writeBackupSchedule = async (data: string, schedule: BackupSchedule): Promise<void> => {
  const file = scheduleFile(data);
  await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await writeFileAtomically(file, `${JSON.stringify(v.parse(backupSchedule, schedule))}\n`);
};

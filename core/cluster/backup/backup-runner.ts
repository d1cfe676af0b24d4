import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { BackupSchedule } from '../../contract/schemas/operations.ts';
import { isScheduledName } from '../data-folder/backup-name.ts';
import {
  assertBackupDirectory,
  DEFAULT_SCHEDULE,
  readBackupSchedule,
  scheduledFolder,
  writeBackupSchedule,
} from './schedule.ts';

const MINUTE_MS = 60_000;
/** After a failure, and at the start when one is overdue: the cluster has other things to do first. */
const RETRY_MS = MINUTE_MS;
/** Timers of the platform end at 2^31 ms. */
const SLEEP_MS_MAX = 24 * 60 * MINUTE_MS;

export interface BackupRunnerOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes one snapshot with the name of the schedule in the folder. */
  save(folder: string): Promise<unknown>;
}

interface ScheduledFile {
  readonly path: string;
  readonly atMs: number;
}

const scheduledFiles = async (folder: string): Promise<readonly ScheduledFile[]> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files = await Promise.all(
    names.filter(isScheduledName).map(async (name) => {
      const path = join(folder, name);
      return { path, atMs: (await stat(path)).mtimeMs };
    }),
  );
  return files.sort((a, b) => b.atMs - a.atMs);
};

/** Makes snapshots by the schedule while the cluster runs, and deletes the oldest of them. Others are never touched. */
export class BackupRunner implements Disposable {
  readonly #options: BackupRunnerOptions;
  #schedule: BackupSchedule = DEFAULT_SCHEDULE;
  #nextAtMs: number | undefined;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: BackupRunnerOptions) {
    this.#options = options;
  }

  get schedule(): BackupSchedule {
    return this.#schedule;
  }

  /** Undefined while the schedule is off. */
  get nextAtMs(): number | undefined {
    return this.#nextAtMs;
  }

  async start(): Promise<void> {
    this.#schedule = await readBackupSchedule(this.#options.dataDirectory);
    await this.#plan();
  }

  async setSchedule(schedule: BackupSchedule): Promise<void> {
    if (schedule.directory !== undefined) await assertBackupDirectory(schedule.directory);
    await writeBackupSchedule(this.#options.dataDirectory, schedule);
    this.#schedule = schedule;
    await this.#plan();
  }

  get #folder(): string {
    return scheduledFolder(this.#options.dataDirectory, this.#schedule);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  async #plan(): Promise<void> {
    const { clock } = this.#options;
    this.#nextAtMs = undefined;
    this.#timer?.dispose();
    if (!this.#schedule.enabled) return;
    const [newest] = await scheduledFiles(this.#folder);
    const dueMs = (newest?.atMs ?? 0) + this.#schedule.everyMinutes * MINUTE_MS;
    this.#sleepUntil(Math.max(dueMs, clock.nowMs() + (newest ? RETRY_MS : 0)));
  }

  #sleepUntil(atMs: number): void {
    if (this.#isDisposed) return;
    const { clock } = this.#options;
    this.#nextAtMs = atMs;
    const leftMs = Math.max(0, atMs - clock.nowMs());
    this.#timer = clock.after(Math.min(leftMs, SLEEP_MS_MAX), () => {
      if (leftMs > SLEEP_MS_MAX) this.#sleepUntil(atMs);
      else void this.#run();
    });
  }

  async #run(): Promise<void> {
    const { log, clock, save } = this.#options;
    try {
      await save(this.#folder);
      await this.#retire();
      this.#sleepUntil(clock.nowMs() + this.#schedule.everyMinutes * MINUTE_MS);
    } catch (error) {
      log.write('error', 'the scheduled snapshot failed; retrying in a minute', {
        error: messageOf(error),
      });
      this.#sleepUntil(clock.nowMs() + RETRY_MS);
    }
  }

  async #retire(): Promise<void> {
    const files = await scheduledFiles(this.#folder);
    for (const { path } of files.slice(this.#schedule.keep)) await rm(path, { force: true });
  }
}

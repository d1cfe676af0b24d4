import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { AuditBackend, EncodedEvent } from './event.ts';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** A disk that is full is told of once in this time. */
const COMPLAIN_EVERY_MS = 60_000;
const STANDARD_OUTPUT = '-';

export interface LogFileOptions {
  readonly path: string;
  /** 0: rotated files are kept whatever their age. */
  readonly ageDaysMax: number;
  /** 0: all of them. */
  readonly backupsMax: number;
  readonly sizeMibMax: number;
  readonly isCompressed: boolean;
  readonly clock: Clock;
  readonly log: Log;
  onFailed?(count: number): void;
}

interface Backup {
  readonly name: string;
  readonly atMs: number;
}

/** `audit-2026-01-31T10-20-30.000.log`, as upstream's rotation names them. */
const stampOf = (atMs: number): string => new Date(atMs).toISOString().replaceAll(':', '-').replace('Z', '');
const STAMP = /-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3})$/;

const backupOf = (name: string, prefix: string, suffix: string): Backup | undefined => {
  const plain = name.endsWith('.gz') ? name.slice(0, -3) : name;
  if (!plain.startsWith(`${prefix}-`) || !plain.endsWith(suffix)) return undefined;
  const stamp = STAMP.exec(plain.slice(0, plain.length - suffix.length))?.[1];
  if (stamp === undefined) return undefined;
  const [date = '', time = ''] = stamp.split('T');
  const [hours, minutes, seconds] = time.split('-');
  return { name, atMs: Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`) };
};

/** One JSON event a line. Writes are in order and one at a time; a full disk fails the events and nothing else. */
export const createLogFile = (options: LogFileOptions): AuditBackend => {
  const { path, clock, log } = options;
  const [folder, suffix] = [dirname(path), extname(path)];
  const prefix = basename(path, suffix);
  const bytesMax = options.sizeMibMax * MIB;
  let file: { readonly handle: FileHandle; bytes: number } | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  let complainedAtMs = -Infinity;
  let cleaning: Promise<void> | undefined;

  const openFile = async (): Promise<{ handle: FileHandle; bytes: number }> => {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    const handle = await open(path, 'a', FILE_MODE);
    return { handle, bytes: (await handle.stat()).size };
  };

  const compress = async (name: string): Promise<void> => {
    const from = join(folder, name);
    await pipeline(
      createReadStream(from),
      createGzip(),
      createWriteStream(`${from}.gz`, { mode: FILE_MODE }),
    );
    await rm(from, { force: true });
  };

  /** The oldest rotated files go, and the rest is compressed. */
  const clean = async (): Promise<void> => {
    const backups = (await readdir(folder))
      .flatMap((name) => backupOf(name, prefix, suffix) ?? [])
      .sort((a, b) => b.atMs - a.atMs || (a.name < b.name ? 1 : -1));
    const oldestMs = clock.nowMs() - options.ageDaysMax * DAY_MS;
    for (const [at, { name, atMs }] of backups.entries()) {
      const isTooMany = options.backupsMax > 0 && at >= options.backupsMax;
      const isTooOld = options.ageDaysMax > 0 && atMs < oldestMs;
      if (isTooMany || isTooOld) await rm(join(folder, name), { force: true });
      else if (options.isCompressed && !name.endsWith('.gz')) await compress(name);
    }
  };

  const rotate = async (): Promise<void> => {
    await file?.handle.close();
    file = undefined;
    await rename(path, join(folder, `${prefix}-${stampOf(clock.nowMs())}${suffix}`));
    cleaning = (cleaning ?? Promise.resolve())
      .then(clean)
      .catch((error: unknown) => complain('rotated audit logs cannot be cleaned up', error));
  };

  const complain = (text: string, error: unknown): void => {
    if (clock.monotonicMs() - complainedAtMs < COMPLAIN_EVERY_MS) return;
    complainedAtMs = clock.monotonicMs();
    log.write('error', text, { path, error: messageOf(error) });
  };

  const append = async (events: readonly EncodedEvent[]): Promise<boolean> => {
    const bytes = Buffer.from(`${events.map(({ json }) => json).join('\n')}\n`);
    try {
      file ??= await openFile();
      if (file.bytes > 0 && file.bytes + bytes.length > bytesMax) {
        await rotate();
        file = await openFile();
      }
      await file.handle.appendFile(bytes);
      file.bytes += bytes.length;
      return true;
    } catch (error) {
      complain('audit events cannot be written; free disk space or change --audit-log-path', error);
      options.onFailed?.(events.length);
      await file?.handle.close().catch(() => undefined);
      file = undefined;
      return false;
    }
  };

  if (path === STANDARD_OUTPUT)
    return {
      process(events) {
        process.stdout.write(`${events.map(({ json }) => json).join('\n')}\n`);
        return true;
      },
      close: () => Promise.resolve(),
    };
  return {
    process(events) {
      const written = tail.then(() => append(events));
      tail = written;
      return written;
    },
    async close() {
      await tail;
      await cleaning;
      await file?.handle.close();
      file = undefined;
    },
  };
};

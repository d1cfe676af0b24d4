import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Said, Severity } from '../../contract/index.ts';
import { encodeLine, LINE_CHARACTERS_MAX, type EndLine, type StoredEntry } from './entry-lines.ts';
import {
  listTimelineFiles,
  makeTimelineFolder,
  readTimelineFiles,
  type StoredTimeline,
  type TimelineFile,
} from './timeline-files.ts';

export interface LogBounds {
  readonly fileBytesMax: number;
  readonly filesMax: number;
}

/** About a hundred thousand entries of 240 bytes. */
export const LOG_BOUNDS: LogBounds = { fileBytesMax: 1024 * 1024, filesMax: 24 };
const FILE_MODE = 0o600;
/** Lines that wait for the disk: a stalled disk must not fill memory. */
const WAITING_LINES_MAX = 10_000;
const NEWLINE = 0x0a;

export interface TimelineLogOptions {
  readonly folder: string;
  readonly log: Log;
  readonly bounds?: LogBounds;
}

export type NewEntry = Omit<StoredEntry, 'id'>;

/**
 * Entries in files of a bounded size, the oldest of which is deleted. Appending never waits and never throws: a disk that
 * fails costs entries, not the cluster.
 */
export class TimelineLog {
  readonly #options: TimelineLogOptions;
  readonly #bounds: LogBounds;
  readonly #listeners = new Set<(entry: StoredEntry) => void>();
  readonly #open = new Map<number, StoredEntry>();
  #files: TimelineFile[] = [];
  #waiting: string[] = [];
  #nextId = 0;
  #isReady = false;
  #hasFailed = false;
  #needsNewline = false;
  /** One piece of work at a time, in order. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: TimelineLogOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? LOG_BOUNDS;
  }

  /** Finds what is stored; answers when the newest of it was recorded. To be awaited before the first `append`. */
  async start(): Promise<number | undefined> {
    this.#files = await listTimelineFiles(this.#options.folder);
    const newest = this.#files.at(-1);
    if (!newest) {
      this.#isReady = true;
      return undefined;
    }
    // An empty or damaged file still tells, by its name, which ids were given before it.
    const { entries } = await readTimelineFiles(this.#files.slice(-2), true);
    this.#nextId = Math.max(newest.firstId, ...entries.slice(-1).map(({ id }) => id)) + 1;
    this.#needsNewline = await endsTorn(newest);
    this.#isReady = true;
    return entries.at(-1)?.atMs;
  }

  /** After every entry, and again when a span ends. */
  onChange(listener: (entry: StoredEntry) => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  append(entry: NewEntry): number {
    const id = this.#nextId;
    this.#nextId += 1;
    const stored = { id, ...entry };
    if (stored.isOpen) this.#open.set(id, stored);
    this.#write(stored);
    this.#tell(stored);
    return id;
  }

  end(id: number, { atMs, severity, text }: { atMs: number; severity?: Severity; text?: Said }): void {
    const entry = this.#open.get(id);
    if (!entry) return;
    this.#open.delete(id);
    const change = { ...(severity && { severity }), ...(text && { text }) };
    this.#write({ end: id, atMs, ...change });
    this.#tell({ ...entry, isOpen: false, endMs: Math.max(entry.atMs, atMs), ...change });
  }

  /** Everything that is stored, with what was appended before the call. */
  read(): Promise<StoredTimeline> {
    this.#flush();
    return this.#inLine(() => readTimelineFiles(this.#files, true));
  }

  async close(): Promise<void> {
    this.#flush();
    await this.#work;
    this.#listeners.clear();
  }

  #tell(entry: StoredEntry): void {
    for (const listener of [...this.#listeners]) listener(entry);
  }

  #write(value: StoredEntry | EndLine): void {
    if (!this.#isReady) return;
    const line = encodeLine(value);
    if (line.length > LINE_CHARACTERS_MAX || this.#waiting.length >= WAITING_LINES_MAX) return;
    this.#waiting.push(line);
    if (this.#waiting.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    void this.#inLine(async () => {
      const text = this.#waiting.join('');
      this.#waiting = [];
      if (text !== '') await this.#store(text);
    });
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch((error: unknown) => this.#failed(error));
    return done;
  }

  /** Said once: a full disk would otherwise be said with every entry. */
  #failed(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { folder, log } = this.#options;
    log.write('warn', 'failed to record the timeline', { folder, error: messageOf(error) });
  }

  async #store(text: string): Promise<void> {
    const file = await this.#fileForMore();
    const bytes = Buffer.from(this.#needsNewline ? `\n${text}` : text, 'utf8');
    const handle = await open(file.path, 'a', FILE_MODE);
    try {
      // Until all of it is there, what follows must not continue half of a line.
      this.#needsNewline = true;
      await handle.writeFile(bytes);
      this.#needsNewline = false;
    } finally {
      await handle.close();
    }
    file.bytes += bytes.length;
    this.#hasFailed = false;
  }

  async #fileForMore(): Promise<TimelineFile> {
    const newest = this.#files.at(-1);
    if (newest && newest.bytes < this.#bounds.fileBytesMax) return newest;
    const { folder } = this.#options;
    await makeTimelineFolder(folder);
    // Named after every id that was given: what is written now has smaller ones too, but none of an older file.
    const firstId = Math.max(this.#nextId - 1, (newest?.firstId ?? -1) + 1);
    const file: TimelineFile = { path: join(folder, `${firstId}.jsonl`), firstId, bytes: 0 };
    this.#files.push(file);
    this.#needsNewline = false;
    while (this.#files.length > this.#bounds.filesMax) {
      const oldest = this.#files.shift();
      if (oldest) await rm(oldest.path, { force: true });
    }
    return file;
  }
}

/** The process that wrote it was killed in the middle of a line. */
const endsTorn = async ({ path, bytes }: TimelineFile): Promise<boolean> => {
  if (bytes === 0) return false;
  const handle = await open(path, 'r');
  try {
    const last = Buffer.alloc(1);
    await handle.read(last, 0, 1, bytes - 1);
    return last[0] !== NEWLINE;
  } finally {
    await handle.close();
  }
};

import { open } from 'node:fs/promises';
import type { TimelineEntry } from '../../contract/index.ts';
import { LineReader } from './entry-lines.ts';
import { Relater, relateAll } from './relate.ts';
import { listTimelineFiles, timelineFolder, type TimelineFile } from './timeline-files.ts';

const NEWLINE = 0x0a;

export interface TimelineNews {
  /** New ones, and those whose end was recorded; oldest first, each with its cause. */
  readonly entries: readonly TimelineEntry[];
  readonly damagedLines: number;
}

/** Reads the files of a cluster that another process runs, or that does not run: first all of them, then what was appended. */
export class TimelineFollower {
  readonly #folder: string;
  #reader = new LineReader();
  #relater = new Relater();
  /** How far each file has been read, up to the end of a line. */
  #offsets = new Map<string, number>();
  #isFirst = true;

  constructor(dataDirectory: string) {
    this.#folder = timelineFolder(dataDirectory);
  }

  /** `isRunning`: a cluster that does not run ended with the last entry, however it ended. */
  async look(isRunning: boolean): Promise<TimelineNews> {
    const files = await listTimelineFiles(this.#folder);
    // Another cluster in the same directory: nothing of what was read is in its files.
    if (files.some(({ path, bytes }) => bytes < (this.#offsets.get(path) ?? 0))) this.#reset();
    for (const file of files) if (file.bytes > (this.#offsets.get(file.path) ?? 0)) await this.#readOn(file);
    if (!isRunning) this.#reader.breakOff();
    const news = this.#reader.drain();
    const related = this.#isFirst ? relateAll(news) : undefined;
    for (const entry of news) this.#relater.prepare(entry);
    this.#isFirst = false;
    return {
      entries: related ?? news.map((entry) => this.#relater.relate(entry)),
      damagedLines: this.#reader.damagedLines,
    };
  }

  #reset(): void {
    this.#reader = new LineReader();
    this.#relater = new Relater();
    this.#offsets = new Map();
    this.#isFirst = true;
  }

  async #readOn({ path, bytes }: TimelineFile): Promise<void> {
    const from = this.#offsets.get(path) ?? 0;
    const text = Buffer.alloc(bytes - from);
    try {
      const handle = await open(path, 'r');
      try {
        await handle.read(text, 0, text.length, from);
      } finally {
        await handle.close();
      }
    } catch (error) {
      // The process that writes deletes the oldest file.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    // The rest of a line comes with the next look.
    const end = text.lastIndexOf(NEWLINE) + 1;
    this.#offsets.set(path, from + end);
    this.#reader.add(text.toString('utf8', 0, end));
  }
}

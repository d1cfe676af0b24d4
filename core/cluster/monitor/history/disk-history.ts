import { open, readdir, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { makeMetricsFolder } from '../metrics-folder.ts';
import type { History } from './history.ts';
import { LINES_MAX, readSegment, SegmentWriter, type ReadSpan, type Sample } from './segment.ts';

export interface HistoryBounds {
  readonly segmentBytesMax: number;
  readonly bytesMax: number;
  readonly retentionMs: number;
}

export interface DiskHistoryOptions {
  readonly directory: string;
  /** Files are `<prefix>-<first moment>.seg`. */
  readonly prefix: string;
  readonly bounds: HistoryBounds;
  readonly log: Log;
  /** False while another process writes here: then samples are its to keep. Once true it stays so. */
  mayWrite(): Promise<boolean>;
}

interface Segment {
  readonly file: string;
  readonly firstMs: number;
  bytes: number;
}

const FILE_MODE = 0o600;

/**
 * Samples in files of a bounded size, the oldest of which goes when there are too many bytes or it is too old. Nothing
 * is synced: a killed process loses nothing that it wrote, and a power cut may take the newest seconds of a chart.
 */
export class DiskHistory implements History {
  readonly #options: DiskHistoryOptions;
  #segments: Segment[] = [];
  #writing:
    { readonly segment: Segment; readonly handle: FileHandle; readonly writer: SegmentWriter } | undefined;
  #opened: Promise<void> | undefined;
  #isWriter = false;
  /** One write at a time, in order; reads stand in line too, so that they never see half of a record. */
  #line: Promise<unknown> = Promise.resolve();

  constructor(options: DiskHistoryOptions) {
    this.#options = options;
  }

  append(sample: Sample): Promise<void> {
    return this.#inLine(() => this.#append(sample));
  }

  read(span: ReadSpan): Promise<readonly Sample[]> {
    return this.#inLine(async () => {
      await this.#look();
      const samples: Sample[] = [];
      for (const [index, segment] of this.#segments.entries()) {
        const nextMs = this.#segments[index + 1]?.firstMs ?? Infinity;
        if (nextMs <= span.fromMs || segment.firstMs > span.toMs) continue;
        const bytes = await readFile(segment.file).catch(() => Buffer.alloc(0));
        for (const sample of readSegment(bytes, span).samples) samples.push(sample);
      }
      return samples;
    });
  }

  firstMs(): Promise<number | null> {
    return this.#inLine(async () => {
      await this.#look();
      return this.#segments[0]?.firstMs ?? null;
    });
  }

  close(): Promise<void> {
    return this.#inLine(async () => {
      const { handle } = this.#writing ?? {};
      this.#writing = undefined;
      await handle?.close();
    });
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work);
    this.#line = done.catch(() => undefined);
    return done;
  }

  #open(): Promise<void> {
    return (this.#opened ??= this.#find());
  }

  /** What another process writes grows and goes without a word: it is looked for each time. */
  #look(): Promise<void> {
    if (!this.#isWriter) this.#opened = undefined;
    return this.#open();
  }

  async #find(): Promise<void> {
    const { directory, prefix } = this.#options;
    const names = await readdir(directory).catch(() => []);
    const found: Segment[] = [];
    for (const name of names) {
      const firstMs = Number(new RegExp(`^${prefix}-(\\d{1,15})\\.seg$`).exec(name)?.[1] ?? NaN);
      if (Number.isNaN(firstMs)) continue;
      const file = join(directory, name);
      // Its writer may have forgotten it since.
      const size = await stat(file).then(
        (found) => found.size,
        () => undefined,
      );
      if (size !== undefined) found.push({ file, firstMs, bytes: size });
    }
    this.#segments = found.sort((a, b) => a.firstMs - b.firstMs);
  }

  async #append(sample: Sample): Promise<void> {
    if (!(await this.#options.mayWrite())) return;
    await this.#look();
    this.#isWriter = true;
    const { bounds } = this.#options;
    const writing = this.#writing ?? (await this.#continue()) ?? (await this.#begin(sample.atMs));
    const { segment, handle, writer } = writing;
    const bytes = writer.encode(sample);
    await handle.write(bytes, 0, bytes.length, segment.bytes);
    segment.bytes += bytes.length;
    this.#writing = writing;
    const isFull = segment.bytes >= bounds.segmentBytesMax || writer.lineCount > LINES_MAX / 2;
    if (isFull) {
      this.#writing = undefined;
      await handle.close();
      await this.#begin(sample.atMs + 1).then((next) => (this.#writing = next));
      await this.#forget(sample.atMs);
    }
  }

  /** The newest segment from the end of its last whole record. */
  async #continue() {
    const segment = this.#segments.at(-1);
    if (!segment) return undefined;
    const { lines, validBytes } = readSegment(await readFile(segment.file).catch(() => Buffer.alloc(0)));
    if (validBytes === 0 || validBytes >= this.#options.bounds.segmentBytesMax) return undefined;
    const writer = new SegmentWriter();
    for (const [key, number] of lines) writer.know(key, number);
    const handle = await open(segment.file, 'r+');
    await handle.truncate(validBytes);
    segment.bytes = validBytes;
    return { segment, handle, writer };
  }

  async #begin(firstMs: number) {
    const { directory, prefix } = this.#options;
    await makeMetricsFolder(directory);
    // A clock that was set back would put a segment before older ones.
    const atMs = Math.round(Math.max(firstMs, (this.#segments.at(-1)?.firstMs ?? -1) + 1));
    const file = join(directory, `${prefix}-${atMs}.seg`);
    const handle = await open(file, 'w', FILE_MODE);
    const header = SegmentWriter.header();
    await handle.write(header, 0, header.length, 0);
    const segment: Segment = { file, firstMs: atMs, bytes: header.length };
    this.#segments.push(segment);
    return { segment, handle, writer: new SegmentWriter() };
  }

  async #forget(nowMs: number): Promise<void> {
    const { bounds, log } = this.#options;
    const total = (): number => this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
    for (;;) {
      const [oldest, next] = this.#segments;
      if (!oldest || !next) return;
      if (next.firstMs > nowMs - bounds.retentionMs && total() <= bounds.bytesMax) return;
      this.#segments.shift();
      await rm(oldest.file, { force: true }).catch((error: unknown) =>
        log.write('warn', 'failed to delete old metrics', { file: oldest.file, error: messageOf(error) }),
      );
    }
  }
}

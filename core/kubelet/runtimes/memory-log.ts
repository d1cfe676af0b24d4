import { toDisposable, type Disposable } from '../../base/disposable.ts';
import type { Clock } from '../../base/clock.ts';
import type { ContainerLog, LogLine, LogReading } from './container-log.ts';

/** The oldest lines go first: upstream rotates files, a simulated container keeps a window. */
export const LOG_LINES_MAX = 2_000;
export const LOG_BYTES_MAX = 256 * 1024;
/** A longer line becomes several, as a container runtime writes it. */
export const LOG_LINE_CHARACTERS_MAX = 16 * 1024;

/** A log that lives with the process. Empty until something is written: an idle pod pays nothing. */
export class MemoryLog implements ContainerLog {
  readonly #clock: Clock;
  #lines: LogLine[] | undefined;
  #bytes = 0;
  #listeners: Set<() => void> | undefined;
  #unfinished = '';
  #closed = false;
  /** Lines dropped from the front, so that a follower's position stays right. */
  #droppedCount = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get closed(): boolean {
    return this.#closed;
  }

  line(text: string, stream: LogLine['stream'] = 'stdout'): void {
    if (this.#closed) return;
    for (let at = 0; at === 0 || at < text.length; at += LOG_LINE_CHARACTERS_MAX)
      this.#push(
        text.length > LOG_LINE_CHARACTERS_MAX ? text.slice(at, at + LOG_LINE_CHARACTERS_MAX) : text,
        stream,
      );
    this.#wake();
  }

  #push(text: string, stream: LogLine['stream']): void {
    const lines = (this.#lines ??= []);
    lines.push({ timeMs: this.#clock.nowMs(), stream, text });
    this.#bytes += text.length;
    while (lines.length > LOG_LINES_MAX || (this.#bytes > LOG_BYTES_MAX && lines.length > 1)) {
      this.#bytes -= lines.shift()!.text.length;
      this.#droppedCount += 1;
    }
  }

  /** Output as a process writes it: lines may come in pieces. */
  write(text: string, stream: LogLine['stream'] = 'stdout'): void {
    const parts = (this.#unfinished + text).split('\n');
    this.#unfinished = parts.pop() ?? '';
    for (const part of parts) this.line(part, stream);
    while (this.#unfinished.length > LOG_LINE_CHARACTERS_MAX) {
      this.line(this.#unfinished.slice(0, LOG_LINE_CHARACTERS_MAX), stream);
      this.#unfinished = this.#unfinished.slice(LOG_LINE_CHARACTERS_MAX);
    }
  }

  /** No more lines: followers end. */
  close(): void {
    if (this.#closed) return;
    if (this.#unfinished !== '') this.line(this.#unfinished);
    this.#unfinished = '';
    this.#closed = true;
    this.#wake();
  }

  /** Lines from a position on; the position after the last one is for the next call. */
  from(position: number): { readonly lines: readonly LogLine[]; readonly next: number } {
    const lines = this.#lines ?? [];
    const start = Math.max(0, position - this.#droppedCount);
    return { lines: lines.slice(start), next: this.#droppedCount + lines.length };
  }

  async *read({ tailLines, sinceMs, follow, signal }: LogReading): AsyncIterable<readonly LogLine[]> {
    const isWanted = ({ timeMs }: LogLine): boolean => sinceMs === undefined || timeMs >= sinceMs;
    let { lines, next } = this.from(0);
    const tail = tailLines === undefined ? lines : tailLines === 0 ? [] : lines.slice(-tailLines);
    yield tail.filter(isWanted);
    while (follow && !signal.aborted) {
      ({ lines, next } = this.from(next));
      if (lines.length > 0) yield lines.filter(isWanted);
      else if (this.#closed) return;
      else await this.#change(signal);
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        following.dispose();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const following = this.onChange(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Called after new lines, and after the close. */
  onChange(listener: () => void): Disposable {
    const listeners = (this.#listeners ??= new Set());
    listeners.add(listener);
    return toDisposable(() => listeners.delete(listener));
  }

  #wake(): void {
    for (const listener of this.#listeners ?? []) listener();
  }
}

import { parseLogLine, type LogLevel } from './log-format.ts';

/** Beyond this the oldest lines go, so that a chatty pod cannot fill the page. */
export const LOG_LINES_MAX = 20_000;

export interface LogLine {
  readonly number: number;
  /** Which pod and container wrote it. */
  readonly source: string;
  readonly atMs: number | undefined;
  /** As it was written. Its fields are parsed again on request. */
  readonly text: string;
  readonly message: string;
  readonly level: LogLevel | undefined;
  readonly hasFields: boolean;
}

const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s;
// Colours of a terminal mean nothing here.
const ESCAPES = /\u001B\[[0-9;?]*[A-Za-z]/g;

/** Lines of several pods, in the order in which they were written. */
export class LogLines {
  #lines: LogLine[] = [];
  #lastNumber = 0;

  get all(): readonly LogLine[] {
    return this.#lines;
  }

  clear(): void {
    this.#lines = [];
  }

  add(source: string, texts: readonly string[]): void {
    let isOrdered = true;
    let lastAtMs = this.#lines.at(-1)?.atMs ?? -Infinity;
    const next = this.#lines.slice(Math.max(0, this.#lines.length + texts.length - LOG_LINES_MAX));
    for (const raw of texts.slice(-LOG_LINES_MAX)) {
      const [, stamp, rest] = STAMPED.exec(raw) ?? [];
      const text = (rest ?? raw).replaceAll(ESCAPES, '');
      const parsed = stamp === undefined ? Number.NaN : Date.parse(stamp);
      const atMs = Number.isNaN(parsed) ? undefined : parsed;
      if (atMs !== undefined) {
        if (atMs < lastAtMs) isOrdered = false;
        lastAtMs = Math.max(lastAtMs, atMs);
      }
      this.#lastNumber += 1;
      const { level, message, fields } = parseLogLine(text);
      next.push({
        number: this.#lastNumber,
        source,
        atMs,
        text,
        message,
        level,
        hasFields: fields.length > 0,
      });
    }
    // Pods write at the same time and their bursts arrive one after the other.
    if (!isOrdered) next.sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0) || a.number - b.number);
    this.#lines = next;
  }
}

/** For a file: when, who, what, in that order, one line each. */
export const exportText = (lines: readonly LogLine[], hasSources: boolean): string =>
  lines
    .map(({ atMs, source, text }) =>
      [atMs === undefined ? '' : new Date(atMs).toISOString(), hasSources ? source : '', text]
        .filter(Boolean)
        .join(' '),
    )
    .join('\n');

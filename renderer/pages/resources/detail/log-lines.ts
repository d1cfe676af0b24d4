/** Beyond this the oldest lines go, so that a chatty pod cannot fill the page. */
export const LOG_LINES_MAX = 20_000;

export interface LogLine {
  readonly number: number;
  readonly source: string;
  readonly atMs: number | undefined;
  readonly text: string;
  readonly tone: 'plain' | 'warn' | 'error';
}

const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s;
const ERROR = /\b(?:ERROR|ERR|FATAL|CRITICAL|panic|Exception)\b|^E\d{4} |"level":"(?:error|fatal)"/;
const WARN = /\b(?:WARN|WARNING)\b|^W\d{4} |"level":"warn(?:ing)?"/;
// Colours of a terminal mean nothing here.
const ESCAPES = /\u001B\[[0-9;?]*[A-Za-z]/g;

const toneOf = (text: string): LogLine['tone'] =>
  ERROR.test(text) ? 'error' : WARN.test(text) ? 'warn' : 'plain';

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
      next.push({ number: this.#lastNumber, source, atMs, text, tone: toneOf(text) });
    }
    // Pods write at the same time and their bursts arrive one after the other.
    if (!isOrdered) next.sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0) || a.number - b.number);
    this.#lines = next;
  }
}

import type { Timeline } from './timeline.ts';

const LINES_MAX = 60;

/** The first thing that must never be. It ends the run. */
export class Violation extends Error {
  override readonly name = 'Violation';
  /** Which promise was broken, in one or two words. */
  readonly check: string;

  constructor(check: string, message: string) {
    super(`${check}: ${message}`);
    this.check = check;
  }
}

/** The last lines of what happened, for anyone who looks at a seed that failed. */
export class Trace {
  readonly #timeline: Timeline;
  readonly #lines: string[] = [];
  readonly #isEndless: boolean;
  violation: Violation | undefined;

  constructor(timeline: Timeline, options: { readonly isEndless: boolean }) {
    this.#timeline = timeline;
    this.#isEndless = options.isEndless;
  }

  note(line: string): void {
    this.#lines.push(`${(this.#timeline.nowMs / 1000).toFixed(4).padStart(9)}  ${line}`);
    if (!this.#isEndless && this.#lines.length > 2 * LINES_MAX) this.#lines.splice(0, LINES_MAX);
  }

  fail(check: string, message: string): void {
    if (this.violation !== undefined) return;
    this.violation = new Violation(check, message);
    this.note(`VIOLATION ${this.violation.message}`);
  }

  get text(): string {
    return (this.#isEndless ? this.#lines : this.#lines.slice(-LINES_MAX)).join('\n');
  }
}

import type { Budget } from './budget.ts';
import { bounded } from './limits.ts';

/** Where a command reads from. */
export interface Input {
  /** A line without its end; undefined at the end of the input. */
  readLine(): Promise<string | undefined>;
  readAll(): Promise<string>;
  /** Whatever is there, as soon as there is something; undefined at the end. For what passes text through. */
  readSome(): Promise<string | undefined>;
}

export const noInput: Input = {
  readLine: () => Promise.resolve(undefined),
  readAll: () => Promise.resolve(''),
  readSome: () => Promise.resolve(undefined),
};

/** As much as a pipe holds before its writer has to wait. */
export const PIPE_WAIT_CHARACTERS = 64 * 1024;
/** A writer that does not wait, or a line without an end, breaks the pipe here. */
export const PIPE_CHARACTERS_MAX = 4 * 1024 * 1024;

export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';
}

/** Text from one command to the next. Writing never waits on its own: `ready` says when there is room again. */
export class Pipe implements Input {
  readonly #budget: Budget | undefined;
  #text = '';
  #isEnded = false;
  #isClosed = false;
  #waiting: (() => void) | undefined;
  #writers: (() => void)[] = [];

  /** What waits in it counts as memory of the container. */
  constructor(budget?: Budget) {
    this.#budget = budget;
  }

  write(text: string): void {
    if (this.#isClosed || this.#text.length + text.length > PIPE_CHARACTERS_MAX)
      throw new BrokenPipe('Broken pipe');
    this.#budget?.take(text.length);
    this.#budget?.charge(text.length);
    this.#text += text;
    this.#wake();
  }

  /** Undefined when there is room; else a promise of the moment when there is. */
  ready(): Promise<void> | undefined {
    if (this.#isClosed || this.#text.length < PIPE_WAIT_CHARACTERS) return undefined;
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  /** The writer is done. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** The reader is done. */
  close(): void {
    this.#isClosed = true;
    this.#rest('');
  }

  async readLine(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n');
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#rest(this.#text.slice(end + 1));
        return bounded(line);
      }
      if (this.#isEnded || this.#isClosed) {
        const last = this.#text;
        this.#rest('');
        return last === '' ? undefined : bounded(last);
      }
      // The rest of the line comes only when the writer may continue.
      this.#release();
      await this.#more();
    }
  }

  async readAll(): Promise<string> {
    const pieces: string[] = [];
    let length = 0;
    for (let text = await this.readSome(); text !== undefined; text = await this.readSome()) {
      pieces.push(text);
      length += text.length;
      // Text that is being gathered is held as much as text in a pipe.
      if (length > PIPE_CHARACTERS_MAX) throw new BrokenPipe('Broken pipe');
    }
    return bounded(pieces.join(''));
  }

  async readSome(): Promise<string | undefined> {
    while (this.#text === '' && !this.#isEnded && !this.#isClosed) await this.#more();
    const text = this.#text;
    this.#rest('');
    return text === '' ? undefined : text;
  }

  #rest(text: string): void {
    this.#budget?.give(this.#text.length - text.length);
    this.#text = text;
    if (text.length < PIPE_WAIT_CHARACTERS || this.#isClosed) this.#release();
  }

  #release(): void {
    for (const resolve of this.#writers.splice(0)) resolve();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}

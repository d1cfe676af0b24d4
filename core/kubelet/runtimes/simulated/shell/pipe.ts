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

/** More than this waiting in a pipe means that its reader is gone or never was. */
export const PIPE_CHARACTERS_MAX = 4 * 1024 * 1024;

export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';
}

/** Text from one command to the next. Writing never waits; a pipe that nobody empties breaks. */
export class Pipe implements Input {
  #text = '';
  #isEnded = false;
  #isClosed = false;
  #waiting: (() => void) | undefined;

  write(text: string): void {
    if (this.#isClosed || this.#text.length + text.length > PIPE_CHARACTERS_MAX)
      throw new BrokenPipe('Broken pipe');
    this.#text += text;
    this.#wake();
  }

  /** The writer is done. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** The reader is done. */
  close(): void {
    this.#isClosed = true;
    this.#text = '';
  }

  async readLine(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n');
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return line;
      }
      if (this.#isEnded) {
        const rest = this.#text;
        this.#text = '';
        return rest === '' ? undefined : rest;
      }
      await this.#more();
    }
  }

  async readAll(): Promise<string> {
    while (!this.#isEnded) await this.#more();
    const text = this.#text;
    this.#text = '';
    return text;
  }

  async readSome(): Promise<string | undefined> {
    while (this.#text === '' && !this.#isEnded) await this.#more();
    const text = this.#text;
    this.#text = '';
    return text === '' ? undefined : text;
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

import { Pipe } from './pipe.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const CTRL_L = '\x0c';
const ESCAPE = '\x1b';
const BELL = '\x07';
/** As the line discipline of Linux: what is typed beyond it is not taken. */
export const LINE_CHARACTERS_MAX = 4_096;
/** No key sends a longer sequence. */
const ESCAPE_CHARACTERS_MAX = 32;

/**
 * What a terminal does between a keyboard and a program: echo, backspace, line ends, Ctrl-C and Ctrl-D. Escape
 * sequences (arrows) are swallowed: there is no line editor.
 */
export class Terminal {
  readonly input: Pipe;
  readonly #show: (text: string) => void;
  readonly #onInterrupt: () => void;
  #line = '';
  #escape = '';

  constructor(show: (text: string) => void, onInterrupt: () => void, input: Pipe = new Pipe()) {
    this.input = input;
    this.#show = show;
    this.#onInterrupt = onInterrupt;
  }

  /** Output of a program: line ends as terminals need them. */
  print(text: string): void {
    this.#show(text.replace(/\r?\n/g, '\r\n'));
  }

  /** Keys as they were typed. */
  type(keys: string): void {
    for (const key of keys) this.#key(key);
  }

  end(): void {
    this.input.end();
  }

  #key(key: string): void {
    if (this.#escape !== '' || key === ESCAPE) {
      this.#escape += key;
      const isOver =
        this.#escape.length >= ESCAPE_CHARACTERS_MAX ||
        (this.#escape.length > 1 && !/^\x1b(\[[0-9;]*)?$/.test(this.#escape));
      if (isOver) this.#escape = '';
      return;
    }
    if (key === '\r' || key === '\n') {
      this.#show('\r\n');
      this.input.write(`${this.#line}\n`);
      this.#line = '';
    } else if (key === '\x7f' || key === '\b') {
      if (this.#line === '') return;
      this.#line = this.#line.slice(0, -1);
      this.#show('\b \b');
    } else if (key === CTRL_C) {
      this.#show('^C\r\n');
      this.#line = '';
      this.#onInterrupt();
    } else if (key === CTRL_D) {
      if (this.#line === '') this.input.end();
    } else if (key === CTRL_L || key >= ' ') {
      if (key !== CTRL_L && this.#line.length >= LINE_CHARACTERS_MAX) return this.#show(BELL);
      this.#line += key === CTRL_L ? '' : key;
      this.#show(key === CTRL_L ? '\x1b[2J\x1b[H' : key);
    }
  }
}

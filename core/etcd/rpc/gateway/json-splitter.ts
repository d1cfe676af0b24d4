import { isJsonSpace } from './json-reader.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/**
 * Cuts a body into the JSON values that follow one another in it, as they arrive. It only looks for where a value ends;
 * whether it is JSON, the reader finds out.
 */
export class JsonSplitter {
  readonly #bytesMax: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #begun = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** More than a value may have. */
  get isTooLong(): boolean {
    return this.#waitingBytes > this.#bytesMax;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  push(chunk: Buffer): string[] {
    const values: string[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (!this.#isEnd(chunk[at]!)) continue;
      values.push(this.#take(chunk.subarray(from, at + 1)));
      from = at + 1;
    }
    if (this.#begun) this.#keep(chunk.subarray(from));
    return values;
  }

  /** What is left when the body has ended: half a value, or a bare one. */
  rest(): string | undefined {
    return this.#begun ? this.#take(Buffer.alloc(0)) : undefined;
  }

  /** Whether a value is whole with this byte. */
  #isEnd(byte: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return !this.#inString && this.#depth === 0;
    }
    if (isJsonSpace(byte)) return this.#begun && this.#depth === 0;
    this.#begun = true;
    if (byte === QUOTE) this.#inString = true;
    else if (OPENING.has(byte)) this.#depth += 1;
    else if (CLOSING.has(byte)) {
      this.#depth -= 1;
      return this.#depth <= 0;
    }
    return false;
  }

  #keep(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #take(last: Buffer): string {
    const text = Buffer.concat([...this.#waiting, last]).toString('utf8');
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#depth = 0;
    this.#inString = false;
    this.#begun = false;
    return text;
  }
}

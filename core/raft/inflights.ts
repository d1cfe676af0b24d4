import { assert } from '../base/assert.ts';

/** Appends sent and not yet acknowledged: a ring of (last index, bytes), bounded in number and in bytes. */
export class Inflights {
  readonly #messagesMax: number;
  readonly #bytesMax: number;
  readonly #indexes: number[] = [];
  readonly #sizes: number[] = [];
  #start = 0;
  #count = 0;
  #bytes = 0;

  constructor(bounds: { readonly inflightMessagesMax: number; readonly inflightBytesMax: number }) {
    this.#messagesMax = bounds.inflightMessagesMax;
    this.#bytesMax = bounds.inflightBytesMax;
  }

  get count(): number {
    return this.#count;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get full(): boolean {
    return this.#count >= this.#messagesMax || this.#bytes >= this.#bytesMax;
  }

  add(lastIndex: number, bytes: number): void {
    assert(!this.full, 'an append was sent beyond the bound of the window');
    const at = (this.#start + this.#count) % this.#messagesMax;
    this.#indexes[at] = lastIndex;
    this.#sizes[at] = bytes;
    this.#count += 1;
    this.#bytes += bytes;
  }

  /** An acknowledgement of `index` covers every earlier message. */
  freeTo(index: number): void {
    while (this.#count > 0 && this.#indexes[this.#start]! <= index) {
      this.#bytes -= this.#sizes[this.#start]!;
      this.#start = (this.#start + 1) % this.#messagesMax;
      this.#count -= 1;
    }
  }

  clear(): void {
    this.#start = 0;
    this.#count = 0;
    this.#bytes = 0;
  }
}
